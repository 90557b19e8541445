/// \file
/// Decompositions of matrices, and linear equations, as in torch.linalg. LAPACK processes each
/// matrix separately.
///
/// The last two dimensions are the matrices; the others are the batch. All functions accept float32
/// and float64. A matrix may have at most 2^28 elements.
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
/// The parts of the decomposition that qr computes.
///
/// reduced computes the first min(m, n) columns of Q and rows of R, complete computes all of them,
/// and r computes only R.
enum class QRMode { reduced, complete, r };
}  // namespace linalg

template <>
inline constexpr std::string_view detail::kWords<linalg::Triangle> = "UPLO: L U";
template <>
inline constexpr std::string_view detail::kWords<linalg::QRMode> = "mode: reduced complete r";

namespace linalg {

/// The result of svd: A = U @ diag(S) @ Vh.
struct SVD {
  Tensor U, S, Vh;
};
/// The result of eigh: A = eigenvectors @ diag(eigenvalues) @ eigenvectors^T.
struct Eigh {
  Tensor eigenvalues, eigenvectors;
};
/// The result of qr: A = Q @ R.
struct QR {
  Tensor Q, R;
};

/// Computes the singular value decomposition A = U @ diag(S) @ Vh.
///
/// A is (..., m, n), float32 or float64. The results are U (..., m, m), S (..., min(m, n)) in
/// descending order, and Vh (..., n, n). Without full_matrices U is (..., m, min(m, n)) and Vh is
/// (..., min(m, n), n).
///
/// The gradient flows through S and the first min(m, n) singular vectors. If it flows through
/// vectors, it is finite only if the singular values differ. For a matrix that is not square, the
/// singular values must also not be zero.
///
/// Throws:
///   ShapeError - A has fewer than two dimensions, or a matrix has more than 2^28 elements
///   DTypeError - A is not floating
///   Error      - A has a NaN or an infinity
///   Error      - LAPACK's gesdd does not converge
///
/// https://pytorch.org/docs/2.6/generated/torch.linalg.svd.html
SVD svd(const Tensor& A, Flag full_matrices = true);

/// Computes the eigenvalues and eigenvectors of symmetric matrices.
///
/// A is (..., n, n), float32 or float64; only one triangle of it is read. The results are the
/// eigenvalues (..., n) in ascending order, and the eigenvectors (..., n, n) in columns.
///
/// The gradient goes to both triangles, as in PyTorch. It is the derivative if the input is
/// computed as a symmetric matrix, such as A + A^T. If it flows through eigenvectors, it is finite
/// only if the eigenvalues differ.
///
/// Throws:
///   ShapeError - the matrices are not square, or have more than 2^28 elements
///   DTypeError - A is not floating
///   Error      - either triangle has a NaN or an infinity
///   Error      - LAPACK's syevd does not converge
///
/// https://pytorch.org/docs/2.6/generated/torch.linalg.eigh.html
Eigh eigh(const Tensor& A, OrWord<Triangle> UPLO = Triangle::L);

/// Computes the QR decomposition A = Q @ R, with orthonormal columns Q and an upper triangular R.
///
/// A is (..., m, n), float32 or float64. The results are Q (..., m, k) and R (..., k, n), where k
/// is m for mode complete and min(m, n) otherwise. In mode r, Q is an empty tensor of shape (0).
/// LAPACK's geqrf computes them. NaN and infinities spread into the results.
///
/// The gradient exists if the columns of A, or the first m if there are more, are independent. It
/// does not exist in mode r, or in mode complete for m > n: there, backward throws an
/// AutogradError.
///
/// Throws:
///   ShapeError - A has fewer than two dimensions, or a matrix has more than 2^28 elements
///   DTypeError - A is not floating
///
/// https://pytorch.org/docs/2.6/generated/torch.linalg.qr.html
QR qr(const Tensor& A, OrWord<QRMode> mode = QRMode::reduced);

/// Solves linear equations: returns the X with A @ X = B.
///
/// A is (..., n, n) and B is (..., n, k). Their batches broadcast. Without `left`, the result is
/// the X with X @ A = B, for B (..., k, n). B may also be one vector (n), or one vector (..., n)
/// for each matrix of A. Then X has vectors, too, and `left` must be true. Both are float32 or
/// float64. NaN and infinities spread into X.
///
/// With X's gradient g, the gradient of B is G = solve(A^T, g), and the gradient of A is -G @ X^T
/// (with `left`).
///
/// Throws:
///   ShapeError - A is not square, or the sizes of A and B do not fit
///   ShapeError - B has vectors, and `left` is false
///   DTypeError - A is not floating, or B has another dtype
///   Error      - a matrix is singular; the message gives its number in the batch
///
/// https://pytorch.org/docs/2.6/generated/torch.linalg.solve.html
Tensor solve(const Tensor& A, const Tensor& B, Flag left = true);

}  // namespace linalg
}  // namespace tend
