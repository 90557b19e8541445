// Rows for autograd/ops/decompositions.h. Singular vectors and eigenvectors are compared without
// their signs, which differ between versions of LAPACK.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Tensors = std::vector<Tensor>;

// Matrices whose elements all differ. With equal rows there would be no derivatives.
Input matrices(Shape shape) {
  return real(std::move(shape)).apart();
}

std::vector<Sample> one_matrix_samples() {
  return {{matrices({2, 4, 3})}, {matrices({2, 3, 4})}, {matrices({3, 3})},   {matrices({1, 1})},
          {matrices({3, 1})},    {matrices({0, 3})},    {matrices({0, 2, 2})}};
}

void svd_rows(Rows& rows) {
  rows.op("svd", "[y.abs() for y in torch.linalg.svd(a, full_matrices=False)]",
          [](T a) {
            const auto [U, S, Vh] = linalg::svd(a, false);
            return Tensors{abs(U), S, abs(Vh)};
          })
      .on(one_matrix_samples())
      .refuses("[svd] needs matrices (..., m, n), got (3,)", {real({3})})
      .refuses("[svd] needs float32 or float64, got int64", {integers({2, 2}, 0, 9)});
  rows.op("svd",
          "(lambda y: (y[0] * y[1].tanh().unsqueeze(-2)) @ y[2])"
          "(torch.linalg.svd(a, full_matrices=False))",
          [](T a) {
            const auto [U, S, Vh] = linalg::svd(a, false);
            return matmul(U * unsqueeze(tanh(S), -2), Vh);
          })
      .on({{matrices({2, 4, 3})}, {matrices({2, 3})}});
  rows.op("svd",
          "[torch.linalg.svd(a)[0][..., :2].abs(), torch.linalg.svd(a)[2][..., :2, :].abs()]",
          [](T a) {
            const auto [U, S, Vh] = linalg::svd(a);
            return Tensors{abs(narrow(U, -1, 0, 2)), abs(narrow(Vh, -2, 0, 2))};
          })
      .on({{matrices({2, 4})}, {matrices({2, 4, 2})}})
      .fixed_size();
  rows.op("svd", "[y.shape[-1] * y.abs() for y in torch.linalg.svd(a)]",
          [](T a) {
            const auto [U, S, Vh] = linalg::svd(a);
            return Tensors{U.size(-1) * abs(U), S.size(-1) * S, Vh.size(-1) * abs(Vh)};
          })
      .on({{matrices({3, 4}).constant()}, {real({2, 0}).constant()}})
      .fixed_size();
}

void eigh_rows(Rows& rows) {
  rows.op("eigh", "[y.abs() for y in torch.linalg.eigh(a + a.mT)]",
          [](T a) {
            const auto [L, V] = linalg::eigh(a + a.mT());
            return Tensors{abs(L), abs(V)};
          })
      .on({{matrices({2, 3, 3})}, {matrices({4, 4})}, {matrices({1, 1})}, {matrices({0, 0})}})
      .refuses("[eigh] needs square matrices, got (2, 3)", {real({2, 3})},
               [](T a) { return linalg::eigh(a).eigenvalues; })
      .refuses("[eigh] needs float32 or float64, got int64", {integers({2, 2}, 0, 9)});
  rows.op("eigh", "[y.abs() for y in torch.linalg.eigh(a + a.mT, UPLO='U')]",
          [](T a) {
            const auto [L, V] = linalg::eigh(a + a.mT(), "U");
            return Tensors{abs(L), abs(V)};
          })
      .on({{matrices({3, 3})}});
  rows.op("eigh", "[torch.linalg.eigh(a)[0], torch.linalg.eigh(a, 'U')[0]]",
          [](T a) {
            return Tensors{linalg::eigh(a).eigenvalues, linalg::eigh(a, "U").eigenvalues};
          })
      .on({{matrices({2, 3, 3}).constant()}});
}

void qr_rows(Rows& rows) {
  const auto q_and_r = [](const linalg::QR& found) { return Tensors{found.Q, found.R}; };
  rows.op("qr", "torch.linalg.qr(a)", [=](T a) { return q_and_r(linalg::qr(a)); })
      .on(one_matrix_samples())
      .refuses("[qr] needs matrices (..., m, n), got (3,)", {real({3})})
      .refuses("[qr] needs float32 or float64, got int64", {integers({2, 2}, 0, 9)});
  rows.op("qr", "torch.linalg.qr(a, mode='complete')",
          [=](T a) { return q_and_r(linalg::qr(a, "complete")); })
      .on({{matrices({2, 3, 4})}, {matrices({4, 2}).constant()}, {matrices({2, 0}).constant()}})
      .fixed_size();
  rows.op("qr", "torch.linalg.qr(a, mode='r')", [=](T a) { return q_and_r(linalg::qr(a, "r")); })
      .on({{matrices({2, 4, 3}).constant()}, {matrices({3, 4}).constant()}})
      .fixed_size();
}

void solve_rows(Rows& rows) {
  rows.op("solve", "torch.linalg.solve(a, b)", [](T a, T b) { return linalg::solve(a, b); })
      .on({{matrices({2, 3, 3}), real({2, 3, 3})},
           {matrices({3, 3}), real({3})},
           {matrices({2, 3, 3}), real({2, 3})},
           {matrices({2, 3, 3}), real({3})},
           {matrices({2, 1, 3, 3}), real({2, 3, 1})},
           {matrices({3, 3}), real({2, 3, 2})},
           {matrices({0, 0}), real({0, 2})},
           {matrices({2, 2}), real({2, 0})}})
      .refuses("[solve] needs square matrices, got (2, 3)", {real({2, 3}), real({2, 2})})
      .refuses("[solve] the sizes of A (2, 2) and B (3, 2) do not fit",
               {real({2, 2}), real({3, 2})})
      .refuses("[solve] the dtypes differ: float64 and float32",
               {real({2, 2}), real({2, 2}).as(float32)})
      .refuses("[solve] matrix 0 of the batch is singular: LAPACK's info is 2",
               {real({2, 2}).in(1, 1), real({2, 2})});
  rows.op("solve", "torch.linalg.solve(a, b, left=False)",
          [](T a, T b) { return linalg::solve(a, b, false); })
      .on({{matrices({2, 3, 3}), real({2, 2, 3})}})
      .fixed_size()
      .refuses("[solve] B must be matrices if left is false, but has shape (2,)",
               {real({2, 2}), real({2})});
}

}  // namespace

std::vector<Op> decompositions_rows() {
  Rows rows;
  svd_rows(rows);
  eigh_rows(rows);
  qr_rows(rows);
  solve_rows(rows);
  return rows.take();
}

}  // namespace tend::test
