/// \file
/// Decompositions of matrices, and linear equations, as torch.linalg has them. LAPACK computes them
/// for each matrix by itself. All need float32 or float64 (DTypeError) and at least two dimensions,
/// the last two being those of the matrices (ShapeError); the others are the batch. A matrix may
/// have 2^28 elements (ShapeError).
///
/// Singular vectors, eigenvectors and the columns of Q are unique only up to their signs. Their
/// gradients are meaningful for losses that do not depend on the signs.
#pragma once

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/words.h>

namespace tend {

namespace linalg {
/// The triangle of a symmetric matrix that eigh reads: the lower or the upper.
enum class Triangle { L, U };
/// What qr computes: the first min(m, n) columns of Q and rows of R, all of them, or only R.
enum class QRMode { reduced, complete, r };
}  // namespace linalg

template <>
inline constexpr std::string_view detail::kWords<linalg::Triangle> = "UPLO: L U";
template <>
inline constexpr std::string_view detail::kWords<linalg::QRMode> = "mode: reduced complete r";

namespace linalg {

/// A = U @ diag(S) @ Vh.
struct SVD {
  Tensor U, S, Vh;
};
/// A = eigenvectors @ diag(eigenvalues) @ eigenvectors^T.
struct Eigh {
  Tensor eigenvalues, eigenvectors;
};
/// A = Q @ R.
struct QR {
  Tensor Q, R;
};

/// The singular value decomposition: (..., m, n) gives U (..., m, m), S (..., min(m, n)) in
/// descending order and Vh (..., n, n). Without full_matrices U is (..., m, min(m, n)) and Vh
/// (..., min(m, n), n).
///
/// Error for a NaN or an infinity, and where LAPACK's gesdd does not converge. The gradient flows
/// through the first min(m, n) singular vectors. It is finite only if the singular values differ,
/// and, where it flows through vectors of a matrix that is not square, only if none is zero.
/// https://pytorch.org/docs/2.6/generated/torch.linalg.svd.html
SVD svd(const Tensor& A, Flag full_matrices = true);

/// The eigenvalues (..., n), in ascending order, and eigenvectors (..., n, n), in columns, of
/// symmetric matrices (..., n, n), of which one triangle is read.
///
/// ShapeError for matrices that are not square, Error for a NaN or an infinity in either triangle,
/// and where LAPACK's syevd does not converge. The gradient goes to both triangles, as in PyTorch:
/// it is the derivative if the input is computed as a symmetric matrix, A + A^T for example. With
/// gradients of the vectors it is finite only if the eigenvalues differ.
/// https://pytorch.org/docs/2.6/generated/torch.linalg.eigh.html
Eigh eigh(const Tensor& A, OrWord<Triangle> UPLO = Triangle::L);

/// Orthonormal columns Q and an upper triangular R, by LAPACK's geqrf: (..., m, n) gives Q
/// (..., m, k) and R (..., k, n), where k is min(m, n) for mode reduced and m for complete. In mode
/// r Q is an empty tensor (0). NaN and infinities spread into the results.
///
/// The gradient needs independent columns (the first m, if there are more). There is none in mode
/// r, and for matrices with m > n in mode complete: backward throws an AutogradError.
/// https://pytorch.org/docs/2.6/generated/torch.linalg.qr.html
QR qr(const Tensor& A, OrWord<QRMode> mode = QRMode::reduced);

/// The X with A @ X = B for square matrices A (..., n, n) and B (..., n, k), whose batches
/// broadcast; without left, the X with X @ A = B for B (..., k, n). B may be a vector (n), or one
/// for each matrix of A, (..., n) with A's batch; then so is X, and left must be true (ShapeError).
///
/// ShapeError for sizes that do not fit, DTypeError for dtypes that differ, Error for a matrix that
/// is singular, which names its number in the batch. NaN and infinities spread into X. With X's
/// gradient g, the gradient of B is G = solve(A^T, g), and that of A is -G @ X^T (with left).
/// https://pytorch.org/docs/2.6/generated/torch.linalg.solve.html
Tensor solve(const Tensor& A, const Tensor& B, Flag left = true);

}  // namespace linalg
}  // namespace tend
