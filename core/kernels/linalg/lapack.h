// Decompositions and linear equations by the LAPACK that OpenBLAS contains.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Allocates an array of matrices (..., rows, cols), as LAPACK reads and writes them: column-major,
/// and one after the other.
///
/// Throws: ShapeError - a matrix would have more than 2^28 elements; the message names `operation`
Array column_major(const char* operation, const Shape& batch, std::int64_t rows, std::int64_t cols,
                   DType dtype);

// The outputs of the following functions are column-major; inputs have any layout. Errors name
// `operation` and the index of the matrix in the batch.

/// Singular value decomposition: a = u @ diag(s) @ vh.
///
/// u is (..., m, m) and vh is (..., n, n), or u has only its first min(m, n) columns and vh its
/// first min(m, n) rows. s is row-major.
///
/// Throws:
///   Error - a matrix contains NaN or infinity
///   Error - LAPACK does not converge
void svd(const char* operation, const Array& u, const Array& s, const Array& vh, const Array& a);

/// Eigenvalues and eigenvectors of symmetric matrices.
///
/// Only the lower or only the upper triangle is read. `values` is row-major.
///
/// Throws:
///   Error - a matrix contains NaN or infinity
///   Error - LAPACK does not converge
void eigh(const char* operation, const Array& values, const Array& vectors, const Array& a,
          bool upper);

/// QR decomposition: a = q @ r, for q (..., m, k) and r (..., k, n), where k is min(m, n) or m.
///
/// If q is undefined, only r is computed.
void qr(const char* operation, const Array& q, const Array& r, const Array& a);

/// Solves a @ x = b. x and b have the same shape, and a has their batch dimensions.
///
/// Throws: Error - a matrix is singular
void solve(const char* operation, const Array& x, const Array& a, const Array& b);

}  // namespace tend::kernels
