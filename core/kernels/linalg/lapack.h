// Decompositions and linear equations by the LAPACK that OpenBLAS contains.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// An array of matrices (..., rows, cols) that lie column-major, one after the other, as LAPACK
/// reads and writes them. ShapeError naming `operation` for matrices of more than 2^28 elements.
Array column_major(const char* operation, const Shape& batch, std::int64_t rows, std::int64_t cols,
                   DType dtype);

// Outputs of the following are column-major; inputs have any layout. Errors name `operation` and
// the matrix's number in the batch.

/// a = u @ diag(s) @ vh, for u (..., m, m) and vh (..., n, n), or their first min(m, n) columns and
/// rows; s is row-major. Error for a NaN or an infinity, and where it does not converge.
void svd(const char* operation, const Array& u, const Array& s, const Array& vh, const Array& a);

/// Eigenvalues, row-major, and eigenvectors of symmetric matrices, of which the lower or the upper
/// triangle is read. Error for a NaN or an infinity, and where it does not converge.
void eigh(const char* operation, const Array& values, const Array& vectors, const Array& a,
          bool upper);

/// a = q @ r, for q (..., m, k) and r (..., k, n), where k is min(m, n) or m. An undefined q is not
/// computed.
void qr(const char* operation, const Array& q, const Array& r, const Array& a);

/// a @ x = b; x and b have one shape, a has the batch of both. Error for a singular matrix.
void solve(const char* operation, const Array& x, const Array& a, const Array& b);

}  // namespace tend::kernels
