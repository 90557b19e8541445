// Rows for autograd/ops/joining.h and pieces.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Tensors = std::vector<Tensor>;

void cutting_rows(Rows& rows) {
  rows.op("split", "torch.split(a, 2, 1)", [](T a) { return split(a, 2, 1); })
      .on({{real({2, 5})}, {real({2, 2})}, {real({2, 0})}});
  rows.op("split", "torch.split(a, 0, -1)", [](T a) { return split(a, 0, -1); })
      .on({{real({2, 0})}})
      .refuses("[split] the pieces cannot have size 0", {real({2, 3})})
      .refuses("[split] a 0-d tensor has no dimension -1", {real({})});
  rows.op("split", "torch.split(a, [1, 0, 3], -1)",
          [](T a) {
            return split(a, Shape{1, 0, 3}, -1);
          })
      .on({{real({2, 4})}, {real({4})}})
      .fixed_size()
      .refuses("[split] sizes (1, 0, 3) do not add up to 5, dimension -1 of (2, 5)",
               {real({2, 5})});
  rows.op("chunk", "torch.chunk(a, 3, 0)", [](T a) { return chunk(a, 3, 0); })
      .on({{real({7, 2})}, {real({3})}, {real({2, 2})}, {real({4})}, {real({0})}})
      .refuses("[chunk] a 0-d tensor has no dimension 0", {real({})});
  rows.op("tensor_split", "torch.tensor_split(a, 3, 1)", [](T a) { return tensor_split(a, 3, 1); })
      .on({{real({2, 7})}, {real({2, 2})}, {real({1, 0})}})
      .refuses("[tensor_split] needs at least 1 section, got 0", {real({3})},
               [](T a) { return tensor_split(a, 0); })
      .refuses("[tensor_split] a 0-d tensor has no dimension 1", {real({})});
  rows.op("tensor_split", "torch.tensor_split(a, [1, -1, 9], 0)",
          [](T a) {
            return tensor_split(a, Shape{1, -1, 9}, 0);
          })
      .on({{real({5, 2})}, {real({3})}});
  rows.op("tensor_split", "torch.tensor_split(a, torch.tensor([1, -1]))",
          [](T a) {
            return tensor_split(a, tensor({1, -1}));
          })
      .on({{real({5, 2})}})
      .refuses("[tensor_split] indices or sections must be int64, not float32", {real({3})},
               [](T a) { return tensor_split(a, tensor(1.0)); })
      .refuses("[tensor_split] indices or sections must be 0-d or 1-d, not (1, 1)", {real({3})},
               [](T a) { return tensor_split(a, tensor({{1}})); });
  rows.op("meshgrid", "torch.meshgrid(*x, indexing='ij')",
          [](const Tensors& x) { return meshgrid(x); })
      .on({{real({3}), real({2})}, {real({2}), real({}), real({3})}, {real({0})}})
      .fixed_size()
      .refuses("[meshgrid] needs 1-d or 0-d tensors, got (2, 2)", {real({2, 2})})
      .refuses("[meshgrid] the dtypes differ: float64 and int64", {real({2}), integers({2}, 0, 3)});
  rows.op("meshgrid", "torch.meshgrid(*x, indexing='xy')",
          [](const Tensors& x) { return meshgrid(x, MeshIndexing::xy); })
      .on({{real({3}), real({2})}, {real({4})}, {real({2}), real({3}), real({2})}})
      .fixed_size();
  rows.op("unbind", "torch.unbind(a, 1)", [](T a) { return unbind(a, 1); })
      .on({{real({2, 3})}, {real({2, 1, 2})}})
      .fixed_size()
      .refuses("[unbind] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
}

void uniting_rows(Rows& rows) {
  rows.op("cat", "torch.cat(x, 1)", [](const Tensors& x) { return cat(x, 1); })
      .on({{real({2, 3}), real({2, 1})},
           {real({2, 1}), real({2, 2}), real({2, 3})},
           {real({2, 2, 2}), real({2, 1, 2})},
           {real({2, 0}), real({2, 3})},
           {real({2, 2})},
           {real({2, 2}), integers({2, 1}, 0, 9), real({2, 1}).as(float32)}})
      .refuses(
          "[cat] (2, 3) and (3, 3) (tensor 1) may differ only in dimension 1, but dimension 0 "
          "is 2 and 3",
          {real({2, 3}), real({3, 3})});
  rows.op("concat", "torch.concat(x, -1)", [](const Tensors& x) { return concat(x, -1); })
      .on({{real({2, 3}), real({2, 1})}, {real({2, 0}), real({2, 3})}, {real({2, 2})}})
      .refuses(
          "[cat] (2, 3) and (3, 3) (tensor 1) may differ only in dimension 1, but dimension 0 "
          "is 2 and 3",
          {real({2, 3}), real({3, 3})});
  rows.op("hstack", "torch.hstack(x)", [](const Tensors& x) { return hstack(x); })
      .on({{real({2, 3}), real({2, 1})},
           {real({2}), real({3})},
           {real({}), real({2})},
           {real({2, 1, 2}), real({2, 2, 2})},
           {real({0, 2}), real({0, 1})}})
      .refuses("[cat] (2, 3) and (3,) (tensor 1) have different ranks", {real({2, 3}), real({3})});
  rows.op("vstack", "torch.vstack(x)", [](const Tensors& x) { return vstack(x); })
      .on({{real({2, 3}), real({1, 3})},
           {real({3}), real({2, 3})},
           {real({}), real({})},
           {real({0, 2}), real({2})}})
      .refuses(
          "[cat] (2, 3) and (1, 2) (tensor 1) may differ only in dimension 0, but dimension 1 "
          "is 3 and 2",
          {real({2, 3}), real({2})});
  rows.op("stack", "torch.stack(x, 1)", [](const Tensors& x) { return stack(x, 1); })
      .on({{real({2, 3}), real({2, 3})}, {real({2}), real({2}), real({2})}, {real({2, 0})}})
      .refuses("[stack] all tensors must have one shape: the first has (2, 3), tensor 1 has (3,)",
               {real({2, 3}), real({3})});
  rows.op("stack", "torch.stack(x)", [](const Tensors& x) { return stack(x); })
      .on({{real({}), real({})}, {real({2}), integers({2}, 0, 9)}});
}

}  // namespace

std::vector<Op> joining_rows() {
  Rows rows;
  cutting_rows(rows);
  uniting_rows(rows);
  return rows.take();
}

}  // namespace tend::test
