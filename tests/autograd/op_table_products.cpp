// Rows for autograd/ops/linalg.h.
#include "tests/autograd/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

}  // namespace

std::vector<Op> product_rows() {
  Rows rows;
  rows.op("matmul", "torch.matmul(a, b)", [](T a, T b) { return matmul(a, b); })
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
          "[matmul] (2, 3) x (4, 5): dimension -1 of the first is 3, dimension -2 of the second "
          "is 4",
          {real({2, 3}), real({4, 5})})
      .refuses("[matmul] the dtypes differ: float64 and float32",
               {real({2, 3}), real({3, 2}).as(float32)});
  rows.op("dot", "torch.dot(a, b)", [](T a, T b) { return dot(a, b); })
      .on({{real({3}), real({3})}, {real({1}), real({1})}, {real({0}), real({0})}})
      .refuses("[dot] (3,) x (2,): dimension -1 of the first is 3, dimension -1 of the second is 2",
               {real({3}), real({2})})
      .refuses("[dot] needs tensors of 1 and 1 dimensions, got (3, 1) and (3,)",
               {real({3, 1}), real({3})});
  rows.op("mm", "torch.mm(a, b)", [](T a, T b) { return mm(a, b); })
      .on({{real({2, 3}), real({3, 4})}, {real({1, 2}), real({2, 1})}})
      .refuses("[mm] needs tensors of 2 and 2 dimensions, got (3,) and (3, 2)",
               {real({3}), real({3, 2})});
  rows.op("mv", "torch.mv(a, b)", [](T a, T b) { return mv(a, b); })
      .on({{real({2, 3}), real({3})}, {real({1, 0}), real({0})}})
      .refuses(
          "[mv] (2, 3) x (2,): dimension -1 of the first is 3, dimension -1 of the second is 2",
          {real({2, 3}), real({2})});
  rows.op("bmm", "torch.bmm(a, b)", [](T a, T b) { return bmm(a, b); })
      .on({{real({2, 2, 3}), real({2, 3, 2})}, {real({1, 1, 2}), real({1, 2, 1})}})
      .refuses("[bmm] (2, 2, 3) x (3, 3, 2): dimension 0 is 2 and 3",
               {real({2, 2, 3}), real({3, 3, 2})});
  rows.op("addmm", "torch.addmm(a, b, c)", [](T a, T b, T c) { return addmm(a, b, c); })
      .on({{real({2, 4}), real({2, 3}), real({3, 4})}, {real({4}), real({2, 3}), real({3, 4})}})
      .refuses(
          "[addmm] what is added has shape (3,), which does not broadcast to the product's (2, 4)",
          {real({3}), real({2, 3}), real({3, 4})});
  rows.op("addmm", "torch.addmm(a, b, c, beta=0.5, alpha=-2)",
          [](T a, T b, T c) { return addmm(a, b, c, 0.5, -2); })
      .on({{real({2, 1}), real({2, 3}), real({3, 4})}});
  rows.op("addmm", "torch.addmm(a, b, c, beta=0)", [](T a, T b, T c) { return addmm(a, b, c, 0); })
      .on({{real({2, 4}), real({2, 3}), real({3, 4})}});
  rows.op("linear", "F.linear(a, b, c)", [](T a, T b, T c) { return linear(a, b, c); })
      .on({{real({2, 3}), real({4, 3}), real({4})},
           {real({3}), real({4, 3}), real({4})},
           {real({2, 2, 3}), real({4, 3}), real({4})},
           {real({0, 3}), real({4, 3}), real({4})}});
  rows.op("linear", "F.linear(a, b)", [](T a, T b) { return linear(a, b, {}); })
      .on({{real({2, 3}), real({4, 3})}, {real({3}), real({4, 3})}})
      .refuses(
          "[linear] input (2, 3) and weight (4, 2): the last dimension of the input is not the "
          "weight's, 2",
          {real({2, 3}), real({4, 2})});
  return rows.take();
}

}  // namespace tend::test
