// Rows for autograd/ops/linalg.h and conv.h.
#include "tests/numbers.h"
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

// The number of multiplications and additions in the product of the last two `inputs`.
double product_flops(const std::vector<Tensor>& inputs) {
  const Tensor &a = inputs[inputs.size() - 2], &b = inputs[inputs.size() - 1];
  return 2 * static_cast<double>(matmul(a, b).numel()) * static_cast<double>(a.size(-1));
}

// The same number for a linear layer, whose weight is transposed. A bias may follow the weight.
double linear_flops(const std::vector<Tensor>& inputs) {
  return 2 * static_cast<double>(inputs[0].numel()) * static_cast<double>(inputs[1].size(0));
}

void linalg_rows(Rows& rows) {
  rows.op("matmul", "torch.matmul(a, b)", [](T a, T b) { return matmul(a, b); })
      .takes_flops(product_flops)
      .on({{real({2, 3}), real({3, 4})},
           {real({3}), real({3})},
           {real({2, 3}), real({3})},
           {real({3}), real({3, 2})},
           {real({2, 2, 3}), real({2, 3, 2})},
           {real({2, 2, 3}), real({3, 2})},
           {real({2, 3}), real({2, 3, 2})},
           {real({2, 1, 2, 3}), real({3, 3, 2})},
           {real({2, 2, 3}), real({3})},
           {real({3}), real({2, 3, 2})},
           {real({2, 0}), real({0, 3})},
           {real({0, 3}), real({3, 2})},
           {real({0, 2, 3}), real({3, 2})},
           {integers({2, 3}, -4, 5), integers({3, 2}, -4, 5)}})
      .refuses(
          "[matmul] (2, 3) x (4, 5): dimension -1 of the first must equal dimension -2 of the "
          "second, but they are 3 and 4",
          {real({2, 3}), real({4, 5})})
      .refuses("[matmul] the dtypes differ: float64 and float32",
               {real({2, 3}), real({3, 2}).as(float32)});
  rows.op("dot", "torch.dot(a, b)", [](T a, T b) { return dot(a, b); })
      .takes_flops(product_flops)
      .on({{real({3}), real({3})}, {real({1}), real({1})}, {real({0}), real({0})}})
      .refuses(
          "[dot] (3,) x (2,): dimension -1 of the first must equal dimension -1 of the second, "
          "but they are 3 and 2",
          {real({3}), real({2})})
      .refuses("[dot] needs tensors of 1 and 1 dimensions, got (3, 1) and (3,)",
               {real({3, 1}), real({3})});
  rows.op("mm", "torch.mm(a, b)", [](T a, T b) { return mm(a, b); })
      .takes_flops(product_flops)
      .on({{real({2, 3}), real({3, 4})}, {real({1, 2}), real({2, 1})}})
      .refuses("[mm] needs tensors of 2 and 2 dimensions, got (3,) and (3, 2)",
               {real({3}), real({3, 2})});
  rows.op("mv", "torch.mv(a, b)", [](T a, T b) { return mv(a, b); })
      .takes_flops(product_flops)
      .on({{real({2, 3}), real({3})}, {real({1, 0}), real({0})}})
      .refuses(
          "[mv] (2, 3) x (2,): dimension -1 of the first must equal dimension -1 of the second, "
          "but they are 3 and 2",
          {real({2, 3}), real({2})});
  rows.op("bmm", "torch.bmm(a, b)", [](T a, T b) { return bmm(a, b); })
      .takes_flops(product_flops)
      .on({{real({2, 2, 3}), real({2, 3, 2})}, {real({1, 1, 2}), real({1, 2, 1})}})
      .refuses(
          "[bmm] (2, 2, 3) x (3, 3, 2): both must have the same dimension 0, but it is 2 "
          "and 3",
          {real({2, 2, 3}), real({3, 3, 2})});
  rows.op("outer", "torch.outer(a, b)", [](T a, T b) { return outer(a, b); })
      .on({{real({2}), real({3})}, {real({0}), real({3})}, {real({2}), integers({2}, 0, 9)}})
      .fixed_size()
      .refuses("[outer] needs tensors of 1 and 1 dimensions, got (2, 2) and (2,)",
               {real({2, 2}), real({2})});
  rows.op("kron", "torch.kron(a, b)", [](T a, T b) { return kron(a, b); })
      .on({{real({2, 3}), real({3, 2})},
           {real({2}), real({2, 2})},
           {real({2, 1, 2}), real({3})},
           {real({}), real({2})},
           {real({}), real({})},
           {real({0, 2}), real({2, 2})},
           {integers({2}, 0, 9), real({2})}})
      .fixed_size();
}

void sum_rows(Rows& rows) {
  rows.op("addmm", "torch.addmm(a, b, c)", [](T a, T b, T c) { return addmm(a, b, c); })
      .takes_flops(product_flops)
      .on({{real({2, 4}), real({2, 3}), real({3, 4})},
           {real({4}), real({2, 3}), real({3, 4})},
           {real({}), real({2, 0}), real({0, 4})}})
      .in_place([](T a, T b, T c) { return a.addmm_(b, c); })
      .refuses("[addmm] needs tensors of 2 and 2 dimensions, got (2, 3) and (3,)",
               {real({2}), real({2, 3}), real({3})})
      .refuses(
          "[addmm] the added tensor has shape (3,), which does not broadcast to the product's "
          "(2, 4)",
          {real({3}), real({2, 3}), real({3, 4})});
  rows.op("addmm", "torch.addmm(a, b, c, beta=0.5, alpha=-2)",
          [](T a, T b, T c) { return addmm(a, b, c, 0.5, -2); })
      .on({{real({2, 1}), real({2, 3}), real({3, 4})},
           {real({2, 4}), real({2, 3}), real({3, 4})},
           {integers({2, 2}, -4, 5), integers({2, 3}, -4, 5), integers({3, 2}, -4, 5)}})
      .in_place([](T a, T b, T c) { return a.addmm_(b, c, 0.5, -2); });
  rows.op("addmm", "torch.addmm(a, b, c, beta=0)", [](T a, T b, T c) { return addmm(a, b, c, 0); })
      .takes_flops(product_flops)
      .on({{real({2, 4}), real({2, 3}), real({3, 4})}});
  rows.op("addmv", "torch.addmv(a, b, c)", [](T a, T b, T c) { return addmv(a, b, c); })
      .on({{real({2}), real({2, 3}), real({3})},
           {real({}), real({2, 3}), real({3})},
           {real({2}), real({2, 0}), real({0})}})
      .in_place([](T a, T b, T c) { return a.addmv_(b, c); })
      .refuses(
          "[addmv] the added tensor has shape (3,), which does not broadcast to the product's "
          "(2,)",
          {real({3}), real({2, 3}), real({3})})
      .refuses(
          "[addmv] (2, 3) x (2,): dimension -1 of the first must equal dimension -1 of the second, "
          "but they are 3 and 2",
          {real({2}), real({2, 3}), real({2})});
  rows.op("addmv", "torch.addmv(a, b, c, beta=2, alpha=0.5)",
          [](T a, T b, T c) { return addmv(a, b, c, 2, 0.5); })
      .on({{real({2}), real({2, 3}), real({3})}})
      .in_place([](T a, T b, T c) { return a.addmv_(b, c, 2, 0.5); });
  rows.op("baddbmm", "torch.baddbmm(a, b, c)", [](T a, T b, T c) { return baddbmm(a, b, c); })
      .takes_flops(product_flops)
      .on({{real({2, 2, 2}), real({2, 2, 3}), real({2, 3, 2})},
           {real({2}), real({2, 2, 3}), real({2, 3, 2})},
           {real({2, 1, 1}), real({2, 2, 0}), real({2, 0, 2})}})
      .in_place([](T a, T b, T c) { return a.baddbmm_(b, c); })
      .refuses(
          "[baddbmm] (2, 2, 3) x (3, 3, 2): both must have the same dimension 0, but it is 2 "
          "and 3",
          {real({}), real({2, 2, 3}), real({3, 3, 2})});
  rows.op("baddbmm", "torch.baddbmm(a, b, c, beta=-1, alpha=3)",
          [](T a, T b, T c) { return baddbmm(a, b, c, -1, 3); })
      .on({{real({2, 2, 2}), real({2, 2, 3}), real({2, 3, 2})},
           {real({1, 2, 1}), real({2, 2, 3}), real({2, 3, 2})}})
      .in_place([](T a, T b, T c) { return a.baddbmm_(b, c, -1, 3); });
  rows.op("addbmm", "torch.addbmm(a, b, c)", [](T a, T b, T c) { return addbmm(a, b, c); })
      .on({{real({2, 2}), real({2, 2, 3}), real({2, 3, 2})},
           {real({2}), real({3, 2, 1}), real({3, 1, 2})},
           {real({2, 2}), real({0, 2, 3}), real({0, 3, 2})}})
      .in_place([](T a, T b, T c) { return a.addbmm_(b, c); })
      .refuses(
          "[addbmm] (2, 2, 3) x (2, 2, 2): dimension -1 of the first must equal dimension -2 of "
          "the second, but they are 3 and 2",
          {real({}), real({2, 2, 3}), real({2, 2, 2})});
  rows.op("addbmm", "torch.addbmm(a, b, c, beta=0.5, alpha=2)",
          [](T a, T b, T c) { return addbmm(a, b, c, 0.5, 2); })
      .on({{real({2, 1}), real({2, 2, 3}), real({2, 3, 2})},
           {real({2, 2}), real({2, 2, 3}), real({2, 3, 2})}})
      .in_place([](T a, T b, T c) { return a.addbmm_(b, c, 0.5, 2); });
  rows.op("linear", "F.linear(a, b, c)", [](T a, T b, T c) { return linear(a, b, c); })
      .takes_flops(linear_flops)
      .on({{real({2, 3}), real({4, 3}), real({4})},
           {real({3}), real({4, 3}), real({4})},
           {real({2, 2, 3}), real({4, 3}), real({4})},
           {real({0, 3}), real({4, 3}), real({4})}});
  rows.op("linear", "F.linear(a, b)", [](T a, T b) { return linear(a, b, {}); })
      .takes_flops(linear_flops)
      .on({{real({2, 3}), real({4, 3})}, {real({3}), real({4, 3})}})
      .refuses(
          "[linear] input (2, 3) and weight (4, 2): the last dimension of the input must be the "
          "weight's, 2",
          {real({2, 3}), real({4, 2})});
}

void diagonal_rows(Rows& rows) {
  rows.op("diag", "torch.diag(a)", [](T a) { return diag(a); })
      .on({{real({3})}, {real({2, 3})}, {real({0})}, {integers({2}, 0, 9)}})
      .fixed_size()
      .refuses("[diag] needs a vector or a matrix, got ()", {real({})});
  rows.op("diag", "torch.diag(a, -1)", [](T a) { return diag(a, -1); })
      .on({{real({2})}, {real({3, 3})}, {real({1, 2})}})
      .fixed_size();
  rows.op("diag_embed", "torch.diag_embed(a)", [](T a) { return diag_embed(a); })
      .on({{real({2, 3})}, {real({3})}, {real({2, 0})}})
      .fixed_size()
      .refuses("[diag_embed] dimension -2 is out of range [-1, 0] for 1 dimensions", {real({})});
  rows.op("diag_embed", "torch.diag_embed(a, 1, 0, 2)", [](T a) { return diag_embed(a, 1, 0, 2); })
      .on({{real({2, 3})}, {real({2, 1, 2})}})
      .fixed_size();
  rows.op("diag_embed", "torch.diag_embed(a, -2, -1, 0)",
          [](T a) { return diag_embed(a, -2, -1, 0); })
      .on({{real({2, 2})}, {real({3})}})
      .fixed_size();
  rows.op("diag_embed", "torch.diag_embed(a, 1, 1, 2)", [](T a) { return diag_embed(a, 1, 1, 2); })
      .on({{real({2, 2})}})
      .fixed_size();
  rows.op("trace", "torch.trace(a)", [](T a) { return trace(a); })
      .on({{real({3, 3})}, {real({2, 3})}, {real({0, 2})}, {integers({2, 2}, 0, 9)}})
      .refuses("[trace] needs a matrix, got (3,)", {real({3})})
      .refuses("[trace] does not accept bool", {bools({2, 2})});
}

void conv_rows(Rows& rows) {
  rows.op("conv1d", "F.conv1d(a, b, c)", [](T a, T b, T c) { return conv1d(a, b, c); })
      .on({{real({2, 3, 5}), real({4, 3, 2}), real({4})},
           {real({3, 5}), real({2, 3, 3}), real({2})},
           {real({0, 2, 3}), real({2, 2, 2}), real({2})},
           {real({1, 1, 1}), real({1, 1, 1}), real({1})}})
      .refuses("[conv1d] the bias has shape (3,), not (4,)",
               {real({2, 3, 5}), real({4, 3, 2}), real({3})})
      .refuses(
          "[conv1d] needs an input (N, C, L) or (C, L) and a weight (O, C, K), got (5,) and (4, 3, "
          "2)",
          {real({5}), real({4, 3, 2}), real({4})})
      .refuses(
          "[conv1d] the input (2, 3, 5) has 3 channels, but the weight (4, 2, 2) needs 1 groups of "
          "2",
          {real({2, 3, 5}), real({4, 2, 2}), real({4})})
      .refuses(
          "[conv1d] a kernel of 6 elements with dilation 1 does not fit an input of 5 elements "
          "with padding 0",
          {real({2, 3, 5}), real({4, 3, 6}), real({4})})
      .refuses("[conv1d] the dtypes differ: float64 and float32",
               {real({2, 3, 5}), real({4, 3, 2}).as(float32), real({4})});
  rows.op("conv1d", "F.conv1d(a, b)", [](T a, T b) { return conv1d(a, b, {}); })
      .on({{real({2, 3, 5}), real({4, 3, 1})},
           {real({2, 6}), real({2, 2, 3})},
           {integers({1, 2, 4}, -4, 5), integers({2, 2, 2}, -4, 5)}});
  rows.op("conv1d", "F.conv1d(a, b, c, stride=2, padding=1)",
          [](T a, T b, T c) { return conv1d(a, b, c, {.stride = 2, .padding = 1}); })
      .on({{real({2, 2, 5}), real({3, 2, 3}), real({3})},
           {real({2, 1}), real({2, 2, 3}), real({2})}});
  rows.op("conv1d", "F.conv1d(a, b, c, padding=2, dilation=2)",
          [](T a, T b, T c) { return conv1d(a, b, c, {.padding = 2, .dilation = 2}); })
      .on({{real({1, 2, 5}), real({2, 2, 3}), real({2})},
           {real({2, 4}), real({1, 2, 2}), real({1})}})
      .fixed_size();
  rows.op("conv1d", "F.conv1d(a, b, c, groups=2)",
          [](T a, T b, T c) { return conv1d(a, b, c, {.groups = 2}); })
      .on({{real({2, 4, 4}), real({2, 2, 2}), real({2})},
           {real({2, 4}), real({4, 1, 2}), real({4})}})
      .fixed_size()
      .refuses(
          "[conv1d] the 3 output channels of the weight (3, 1, 2) cannot be divided into 2 groups",
          {real({2, 4}), real({3, 1, 2}), real({3})});
  rows.op("conv1d", "F.conv1d(a, b, stride=3, padding=1, dilation=2, groups=3)",
          [](T a, T b) {
            return conv1d(a, b, {}, {.stride = 3, .padding = 1, .dilation = 2, .groups = 3});
          })
      .on({{real({2, 3, 7}), real({3, 1, 2})}})
      .fixed_size();
}

}  // namespace

std::vector<Op> linalg_rows() {
  Rows rows;
  linalg_rows(rows);
  sum_rows(rows);
  diagonal_rows(rows);
  conv_rows(rows);
  for (const char* p : {"0", "1", "2", "2.5", "float('inf')"}) {
    const double order = std::string(p) == "float('inf')" ? kInf : std::stod(p);
    // Grids without common elements, since there is no derivative where two elements are equal.
    rows.op("cdist", std::string("torch.cdist(a, b, ") + p + ")",
            [order](T a, T b) { return cdist(a, b, order); })
        .on({{real({3, 4}).grid(0.1).apart(), real({2, 4}).grid(0.37, 0.03).apart()}})
        .refuses("[cdist] needs rows of one length, got (2, 3) and (2, 4)",
                 {real({2, 3}), real({2, 4})})
        .refuses("[cdist] the dtypes differ: float64 and int64",
                 {real({2, 3}), integers({2, 3}, 0, 3)})
        .refuses("[cdist] the order of the norm is -1, which must be at least 0",
                 {real({2, 3}), real({2, 3})}, [](T a, T b) { return cdist(a, b, -1); });
  }
  rows.op("cdist", "torch.cdist(a, b)", [](T a, T b) { return cdist(a, b); })
      .on({{real({2, 3, 4}).grid(0.1), real({2, 4}).grid(0.1, 0.05)},
           {real({27, 3}).grid(0.1), real({2, 2, 3}).grid(0.37, 0.03)},  // uses a matrix product
           {real({3, 0}), real({2, 0})},
           {real({0, 2}), real({3, 2})}});
  return rows.take();
}

}  // namespace tend::test
