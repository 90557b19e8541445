#include <tend/autograd/ops/decompositions.h>

#include <algorithm>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/linalg/lapack.h>

namespace tend::linalg {
namespace {

Tensor flipped(const Tensor& matrices) {
  return transpose(matrices, -2, -1);
}

// The identity matrix, in the dtype of `like`.
Tensor identity(const Tensor& like, std::int64_t n) {
  return eye(n, like.dtype());
}

void check_matrices(const char* operation, const Tensor& A) {
  check_floating(operation, A);
  if (A.dim() < 2) fail<ShapeError>(operation, "needs matrices (..., m, n), got ", A.shape());
}

void check_square(const char* operation, const Tensor& A) {
  check_matrices(operation, A);
  if (A.size(-2) == A.size(-1)) return;
  fail<ShapeError>(operation, "needs square matrices, got ", A.shape());
}

Shape without_last(Shape shape, int count) {
  for (; count > 0; --count) shape.erase(shape.rank() - 1);
  return shape;
}

Shape with_last(Shape shape, std::int64_t size) {
  shape.push_back(size);
  return shape;
}

// The matrix with element x_j - x_i in row i and column j, but with ones on the diagonal.
Tensor differences(const Tensor& x) {
  return unsqueeze(x, -2) - unsqueeze(x, -1) + identity(x, x.size(-1));
}

// Each result of an operation has its own node, whose derivative computes the part of the gradient
// that flows through this result. Nodes that saved each other's history would form a cycle, so they
// save the results as constants. A backward that records a graph computes the results again from
// the input.

SVD svd_for(const Derivative& d, bool full_matrices) {
  SVD all =
      grad_enabled() ? svd(d.saved(0), full_matrices) : SVD{d.saved(1), d.saved(2), d.saved(3)};
  const std::int64_t k = all.S.size(-1);
  return {narrow(all.U, -1, 0, k), all.S, narrow(all.Vh, -2, 0, k)};
}

// The gradient of A = U diag(S) V^T, if gU is the gradient of U:
// U ((U^T gU - gU^T U) / E) diag(S) V^T + (I - U U^T) gU diag(1 / S) V^T, E_ij = S_j^2 - S_i^2.
// J. Townsend, Differentiating the Singular Value Decomposition, 2016; PyTorch's svd_backward.
Tensor svd_vectors_gradient(const Tensor& gU, const Tensor& U, const Tensor& S, const Tensor& Vh) {
  const Tensor inner = matmul(flipped(U), gU);
  const Tensor row = unsqueeze(S, -2);
  Tensor left = matmul(U, (inner - flipped(inner)) / differences(S * S) * row);
  if (U.size(-2) > U.size(-1)) left = left + (gU - matmul(U, inner)) / row;
  return matmul(left, Vh);
}

}  // namespace

SVD svd(const Tensor& A, Flag full_matrices) {
  check_matrices("svd", A);
  const std::int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const bool full = full_matrices;
  const Shape batch = without_last(A.shape(), 2);
  const Array u = kernels::column_major("svd", batch, m, full ? m : k, A.dtype());
  const Array s = Array::empty(with_last(batch, k), A.dtype());
  const Array vh = kernels::column_major("svd", batch, full ? n : k, n, A.dtype());
  kernels::svd("svd", u, s, vh, A.array());
  const SVD fixed{Tensor(u), Tensor(s), Tensor(vh)};
  const char* const node = "LinalgSvdBackward0";
  return {record(node, u, {A}, {A, fixed.U, fixed.S, fixed.Vh},
                 [full](Derivative& d) {
                   const auto [U, S, Vh] = svd_for(d, full);
                   const Tensor gU = narrow(d.grad(), -1, 0, S.size(-1));
                   d.set(0, svd_vectors_gradient(gU, U, S, Vh));
                 }),
          record(node, s, {A}, {A, fixed.U, fixed.S, fixed.Vh},
                 [full](Derivative& d) {
                   const auto [U, S, Vh] = svd_for(d, full);
                   d.set(0, matmul(U * unsqueeze(d.grad(), -2), Vh));
                 }),
          record(node, vh, {A}, {A, fixed.U, fixed.S, fixed.Vh}, [full](Derivative& d) {
            // A^T = V diag(S) U^T: here V has the role of U.
            const auto [U, S, Vh] = svd_for(d, full);
            const Tensor gV = flipped(narrow(d.grad(), -2, 0, S.size(-1)));
            d.set(0, flipped(svd_vectors_gradient(gV, flipped(Vh), S, flipped(U))));
          })};
}

namespace {

Eigh eigh_for(const Derivative& d, Triangle triangle) {
  return grad_enabled() ? eigh(d.saved(0), triangle) : Eigh{d.saved(1), d.saved(2)};
}

}  // namespace

Eigh eigh(const Tensor& A, OrWord<Triangle> UPLO) {
  check_square("eigh", A);
  const std::int64_t n = A.size(-1);
  const Triangle triangle = UPLO;
  const Shape batch = without_last(A.shape(), 2);
  const Array values = Array::empty(with_last(batch, n), A.dtype());
  const Array vectors = kernels::column_major("eigh", batch, n, n, A.dtype());
  kernels::eigh("eigh", values, vectors, A.array(), triangle == Triangle::U);
  const Eigh fixed{Tensor(values), Tensor(vectors)};
  const char* const node = "LinalgEighBackward0";
  return {record(node, values, {A}, {A, fixed.eigenvalues, fixed.eigenvectors},
                 [triangle](Derivative& d) {
                   const auto [L, V] = eigh_for(d, triangle);
                   d.set(0, matmul(V * unsqueeze(d.grad(), -2), flipped(V)));
                 }),
          record(node, vectors, {A}, {A, fixed.eigenvalues, fixed.eigenvectors},
                 [triangle](Derivative& d) {
                   // V (V^T g / E) V^T with E_ij = L_j - L_i, where the quotient has zeros on its
                   // diagonal. This is PyTorch's linalg_eig_backward.
                   const auto [L, V] = eigh_for(d, triangle);
                   const Tensor inner =
                       matmul(flipped(V), d.grad()) * (1 - identity(V, V.size(-1)));
                   d.set(0, matmul(matmul(V, inner / differences(L)), flipped(V)));
                 })};
}

namespace {

// An undefined gQ or gR means a gradient of zeros.

// The gradient of A = Q R with m >= n: (gQ + Q syminvadj(triu(gR R^T - Q^T gQ))) R^-T. Here
// syminvadj(X) = X + X^T with half the diagonal. PyTorch's linalg_qr_backward.
Tensor tall_qr_gradient(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor inner;
  if (gR.defined()) inner = matmul(gR, flipped(R));
  if (gQ.defined()) {
    const Tensor product = matmul(flipped(Q), gQ);
    inner = gR.defined() ? inner - product : -product;
  }
  Tensor sum = matmul(Q, triu(inner) + flipped(triu(inner, 1)));
  if (gQ.defined()) sum = sum + gQ;
  return flipped(solve(R, flipped(sum)));
}

// For m < n, A = (X, Y) and R = (R1, R2), so X = Q R1 and R2 = Q^T Y.
Tensor qr_gradient(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  const std::int64_t m = Q.size(-2), rest = R.size(-1) - m;
  if (rest <= 0) return tall_qr_gradient(gQ, gR, Q, R);
  const Tensor R1 = narrow(R, -1, 0, m), R2 = narrow(R, -1, m, rest);
  if (!gR.defined()) return pad(tall_qr_gradient(gQ, {}, Q, R1), {0, rest});
  const Tensor gR1 = narrow(gR, -1, 0, m), gR2 = narrow(gR, -1, m, rest);
  const Tensor gQ_of_R2 = matmul(matmul(Q, R2), flipped(gR2));
  return cat({tall_qr_gradient(gQ_of_R2, gR1, Q, R1), matmul(Q, gR2)}, -1);
}

// Q and R for a derivative.
//
// Throws: AutogradError - there is no derivative
QR qr_for(const Derivative& d, QRMode mode) {
  const Tensor A = d.saved(0);
  if (mode == QRMode::r) fail<AutogradError>("qr", "has no derivative in mode r, which lacks Q");
  if (mode == QRMode::complete && A.size(-2) > A.size(-1)) {
    fail<AutogradError>("qr", "has no derivative in mode complete for ", A.shape(),
                        ", as there are more rows than columns");
  }
  return grad_enabled() ? qr(A, mode) : QR{d.saved(1), d.saved(2)};
}

}  // namespace

QR qr(const Tensor& A, OrWord<QRMode> mode) {
  check_matrices("qr", A);
  const QRMode kind = mode;
  const std::int64_t m = A.size(-2), n = A.size(-1);
  const std::int64_t k = kind == QRMode::complete ? m : std::min(m, n);
  const Shape batch = without_last(A.shape(), 2);
  const Array r = kernels::column_major("qr", batch, k, n, A.dtype());
  const char* const node = "LinalgQrBackward0";
  if (kind == QRMode::r) {
    kernels::qr("qr", {}, r, A.array());
    return {empty({0}, A.dtype()),
            record(node, r, {A}, {A}, [](Derivative& d) { qr_for(d, QRMode::r); })};
  }
  const Array q = kernels::column_major("qr", batch, m, k, A.dtype());
  kernels::qr("qr", q, r, A.array());
  const QR fixed{Tensor(q), Tensor(r)};
  return {record(node, q, {A}, {A, fixed.Q, fixed.R},
                 [kind](Derivative& d) {
                   const auto [Q, R] = qr_for(d, kind);
                   d.set(0, qr_gradient(d.grad(), {}, Q, R));
                 }),
          record(node, r, {A}, {A, fixed.Q, fixed.R}, [kind](Derivative& d) {
            const auto [Q, R] = qr_for(d, kind);
            d.set(0, qr_gradient({}, d.grad(), Q, R));
          })};
}

namespace {

bool is_vector(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (B.dim() == A.dim() - 1 && B.shape() == without_last(A.shape(), 1));
}

void check_sides(const Tensor& A, const Tensor& B, bool left) {
  check_square("solve", A);
  check_one_dtype("solve", A, B);
  if (B.dim() == 0) fail<ShapeError>("solve", "B must be a vector or matrices, but is 0-d");
  const bool vector = is_vector(A, B);
  if (vector && !left) {
    fail<ShapeError>("solve", "B must be matrices if left is false, but has shape ", B.shape());
  }
  if (B.size(vector || !left ? -1 : -2) == A.size(-1)) return;
  fail<ShapeError>("solve", "the sizes of A ", A.shape(), " and B ", B.shape(), " do not fit");
}

}  // namespace

Tensor solve(const Tensor& A, const Tensor& B, Flag left) {
  check_sides(A, B, left);
  if (!left) return flipped(solve(flipped(A), flipped(B)));
  if (is_vector(A, B)) return squeeze(solve(A, unsqueeze(B, -1)), -1);
  const Shape batch =
      broadcast_shapes("solve", without_last(A.shape(), 2), without_last(B.shape(), 2));
  const std::int64_t n = A.size(-1), columns = B.size(-1);
  const Array x = kernels::column_major("solve", batch, n, columns, A.dtype());
  kernels::solve("solve", x, A.array().expand(with_last(with_last(batch, n), n)),
                 B.array().expand(x.shape()));
  return record("LinalgSolveExBackward0", x, {A, B}, {A, kOutput}, [](Derivative& d) {
    const Tensor G = solve(flipped(d.saved(0)), d.grad());
    if (d.needs(0)) d.set(0, -matmul(G, flipped(d.saved(1))));
    if (d.needs(1)) d.set(1, G);
  });
}

}  // namespace tend::linalg
