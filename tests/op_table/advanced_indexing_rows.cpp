// Rows for autograd/ops/advanced_indexing.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

Input positions(const Shape& shape, std::int64_t size) {
  return integers(shape, -static_cast<double>(size), static_cast<double>(size));
}

void one_tensor_rows(Rows& rows) {
  rows.op("index", "a[b]", [](T a, T b) { return a[b]; })
      .on({{real({3, 2}), positions({4}, 3)},
           {real({3}), positions({2, 2}, 3)},
           {real({3, 2}), positions({}, 3)},
           {real({3, 2}), positions({0}, 3)},
           {real({0, 2}), positions({0}, 3)},
           {integers({3, 2}, 0, 9), positions({4}, 3)},
           {real({2, 3}), bools({2, 3})},
           {real({3, 2}), bools({3})},
           {real({2, 3}), bools({})},
           {real({}), bools({})},
           {real({0, 3}), bools({0, 3})}})
      .refuses("[index] index 0: position 3 is out of range for dimension 0 of (3, 2)",
               {real({3, 2}), integers({4}, 3, 4)})
      .refuses("[index] index 0: position -4 is out of range for dimension 0 of (3, 2)",
               {real({3, 2}), integers({}, -4, -3)})
      .refuses("[index] index 0: a mask of shape (2, 2) does not fit (2, 3) in dimension 1",
               {real({2, 3}), bools({2, 2})})
      .refuses("[index] too many indices: 3 for a tensor of 2 dimensions, shape (2, 3)",
               {real({2, 3}), bools({2, 3, 1})})
      .refuses("[index] index 0 is a tensor of float64, not int64 or bool", {real({2}), real({2})});
  rows.op("index", "a[:, b]",
          [](T a, T b) {
            return a[{Slice{}, b}];
          })
      .on({{real({2, 3, 2}), positions({4}, 3)},
           {real({2, 3}), positions({2, 2}, 3)},
           {real({2, 3, 2}), positions({}, 3)},
           {real({2, 3, 2}), bools({3, 2})},
           {real({2, 3, 2}), bools({3})},
           {real({2, 3}), bools({})}})
      .refuses("[index] index 1: position 3 is out of range for dimension 1 of (2, 3)",
               {real({2, 3}), integers({2}, 3, 4)});
  rows.op("index", "a[..., b]",
          [](T a, T b) {
            return a[{ellipsis, b}];
          })
      .on({{real({2, 3, 2}), positions({4}, 2)}, {real({2, 3, 2}), bools({3, 2})}});
  rows.op("index", "a[None, b, ..., None]",
          [](T a, T b) {
            return a[{newaxis, b, ellipsis, newaxis}];
          })
      .on({{real({3, 2}), positions({2, 2}, 3)}});
  rows.op("index", "a[1:, b, ::2]",
          [](T a, T b) {
            return a[{Slice{1, {}}, b, Slice{{}, {}, 2}}];
          })
      .on({{real({2, 3, 3}), positions({2, 2}, 3)}});
  rows.op("index", "a[-1, :, b]",
          [](T a, T b) {
            return a[{-1, Slice{}, b}];
          })
      .on({{real({2, 3, 4}), positions({2}, 4)}});
}

void several_tensor_rows(Rows& rows) {
  rows.op("index", "a[b, c]",
          [](T a, T b, T c) {
            return a[{b, c}];
          })
      .on({{real({3, 2}), positions({4}, 3), positions({4}, 2)},
           {real({3, 2, 2}), positions({2, 1}, 3), positions({3}, 2)},
           {real({3, 2, 2}), bools({3, 2}), positions({1}, 2)},
           {real({3, 2}), positions({2, 2}, 3), positions({}, 2)},
           {real({3, 2}), bools({}), positions({2}, 3)},
           {real({3, 2}), positions({0}, 3), positions({1}, 2)}})
      .refuses("[index] index 1: position 2 is out of range for dimension 1 of (3, 2)",
               {real({3, 2}), integers({2}, 0, 3), integers({2}, 2, 3)})
      .refuses("[index] (2,) and (3,) do not broadcast: dimension -1 is 2 and 3",
               {real({3, 2}), positions({2}, 3), positions({3}, 2)});
  rows.op("index", "a[b, :, c]",
          [](T a, T b, T c) {
            return a[{b, Slice{}, c}];
          })
      .on({{real({3, 2, 4}), positions({2}, 3), positions({2}, 4)},
           {real({3, 2, 4}), positions({2, 1}, 3), positions({3}, 4)},
           {real({3, 2, 4}), bools({3}), positions({1}, 4)}});
  rows.op("index", "a[:, b, c]",
          [](T a, T b, T c) {
            return a[{Slice{}, b, c}];
          })
      .on({{real({2, 3, 4}), positions({2}, 3), positions({2}, 4)},
           {real({2, 3, 4}), positions({2, 1}, 3), positions({3}, 4)}});
  rows.op("index", "a[b, None, c]",
          [](T a, T b, T c) {
            return a[{b, newaxis, c}];
          })
      .on({{real({3, 2, 2}), positions({2}, 3), positions({2}, 2)}});
  rows.op("index", "a[0, b, 1:, c]",
          [](T a, T b, T c) {
            return a[{0, b, Slice{1, {}}, c}];
          })
      .on({{real({2, 3, 3, 2}), positions({2}, 3), positions({2}, 2)}});
}

// The positions are distinct in rows where no element may be written twice.
void put_rows(Rows& rows) {
  rows.op("index_put", "torch.index_put(a, (b,), c)",
          [](T a, T b, T c) { return index_put(a, {b}, c); })
      .on({{real({4, 2}), integers({3}, 0, 4).apart(), real({3, 2})},
           {real({4, 2}), integers({2, 2}, -4, 0).apart(), real({2})},
           {real({4, 2}), integers({3}, 0, 4).apart(), real({})},
           {real({4, 2}), integers({0}, 0, 4), real({2})},
           {real({2, 3}), bools({2, 3}), real({})},
           {real({4, 2}), bools({4}), real({1, 2})},
           {integers({4}, 0, 9), integers({3}, 0, 4).apart(), integers({3}, 0, 9)}})
      .fixed_size()
      .in_place([](T a, T b, T c) { return a.index_put_({b}, c); })
      .refuses("[index_put] the values must have the tensor's dtype float64, but are float32",
               {real({4}), integers({3}, 0, 4), real({3}).as(float32)})
      .refuses("[index_put] values of shape (2,) do not broadcast to the indexed positions, (3,)",
               {real({4}), integers({3}, 0, 4), real({2})})
      .refuses("[index_put] index 0: position 4 is out of range for dimension 0 of (4,)",
               {real({4}), integers({3}, 4, 5), real({})});
  rows.op("index_put", "torch.index_put(a, (b,), c, accumulate=True)",
          [](T a, T b, T c) { return index_put(a, {b}, c, true); })
      .on({{real({4, 2}), integers({5}, -4, 4), real({5, 2})},
           {real({4}), integers({2, 3}, -4, 4), real({3})},
           {bools({4}), integers({3}, 0, 4), bools({3})}})
      .within(64)  // sums of many elements
      .in_place([](T a, T b, T c) { return a.index_put_({b}, c, true); });
  rows.op("index_put", "[y := x[0].clone(), y.__setitem__((slice(None), x[1], x[2]), x[3])][0]",
          [](const std::vector<Tensor>& x) {
            Tensor y = x[0].clone();
            y[{Slice{}, x[1], x[2]}] = x[3];
            return y;
          })
      .on({{real({2, 3, 2}), integers({3}, 0, 3).apart(), positions({3}, 2), real({2, 3})},
           {real({2, 3, 2}), integers({3, 1}, 0, 3).apart(), integers({2}, 0, 2).apart(),
            real({3, 1})}})
      .fixed_size();
  rows.op("index_put", "[y := a.clone(), y.__setitem__((0, slice(None), b), c)][0]",
          [](T a, T b, T c) {
            Tensor y = a.clone();
            y[{0, Slice{}, b}] = c;
            return y;
          })
      .on({{real({2, 3, 4}), integers({2}, 0, 4).apart(), real({3, 2})},
           {real({2, 3, 4}), bools({4}), real({1, 1, 3, 1})}})
      .fixed_size();
  rows.op("index_put", "[y := a.clone(), y.__setitem__(b, -2.5)][0]",
          [](T a, T b) {
            Tensor y = a.clone();
            y[b] = -2.5;
            return y;
          })
      .on({{real({3, 2}), bools({3, 2})},
           {real({3, 2}), positions({2}, 3)},
           {integers({3}, 0, 9), positions({2}, 3)}})
      .refuses("[index] index 0: a mask of shape (2,) does not fit (3, 2) in dimension 0",
               {real({3, 2}), bools({2})});
  rows.op("index_put", "[y := a.clone(), y.__setitem__(b, y[b].clone() * c)][0]",
          [](T a, T b, T c) {
            Tensor y = a.clone();
            y[{b}] *= c;
            return y;
          })
      .on({{real({4, 2}), integers({3}, 0, 4).apart(), real({2})},
           {real({4, 2}), bools({4, 2}), real({})},
           {real({4, 2}), integers({}, 0, 4), real({2})}})
      .fixed_size();
}

void slice_rows(Rows& rows) {
  rows.op("index_copy", "torch.index_copy(a, 1, b, c)",
          [](T a, T b, T c) { return index_copy(a, 1, b, c); })
      .on({{real({2, 4, 2}), integers({3}, 0, 4).apart(), real({2, 3, 2})},
           {real({2, 4}), integers({}, 0, 4), real({2, 1})},
           {real({2, 4}), integers({0}, 0, 4), real({2, 0})}})
      .fixed_size()
      .in_place([](T a, T b, T c) { return a.index_copy_(1, b, c); })
      .refuses("[index_copy] source (2, 3) and index (4,) do not fit (2, 3) in dimension 1",
               {real({2, 3}), integers({4}, 0, 3), real({2, 3})})
      .refuses("[index_copy] index -1 is out of range for dimension 1 of (2, 3)",
               {real({2, 3}), integers({1}, -1, 0), real({2, 1})})
      .refuses("[index_copy] the values must have the tensor's dtype float64, but are float32",
               {real({2, 3}), integers({1}, 0, 1), real({2, 1}).as(float32)});
  rows.op("index_copy", "torch.index_copy(a, 0, b, c)",
          [](T a, T b, T c) { return index_copy(a, 0, b, c); })
      .on({{real({}), integers({1}, 0, 1), real({})}, {real({}), integers({}, 0, 1), real({1})}})
      .in_place([](T a, T b, T c) { return a.index_copy_(0, b, c); });
  rows.op("index_fill", "torch.index_fill(a, 1, b, -2.5)",
          [](T a, T b) { return index_fill(a, 1, b, -2.5); })
      .on({{real({2, 4, 2}), positions({3}, 4)},
           {real({2, 4}), positions({}, 4)},
           {integers({2, 4}, 0, 9), positions({2}, 4)}})
      .in_place([](T a, T b) { return a.index_fill_(1, b, -2.5); })
      .refuses("[index_fill] index 4 is out of range for dimension 1 of (2, 4)",
               {real({2, 4}), integers({1}, 4, 5)})
      .refuses("[index_fill] the index has shape (1, 1), not one dimension",
               {real({2, 4}), integers({1, 1}, 0, 1)});
  rows.op("index_fill", "torch.index_fill(a, 0, b, c)",
          [](T a, T b, T c) { return index_fill(a, 0, b, c); })
      .on({{real({4, 2}), integers({3}, 0, 4), real({})},
           {real({}), integers({1}, 0, 1), real({})}})
      .in_place([](T a, T b, T c) { return a.index_fill_(0, b, c); })
      .refuses("[index_fill] the value must be a 0-d tensor, not (1,)",
               {real({4}), positions({3}, 4), real({1})});
}

void mask_rows(Rows& rows) {
  rows.op("take", "torch.take(a, b)", [](T a, T b) { return take(a, b); })
      .on({{real({2, 3}), positions({2, 2}, 6)},
           {real({2, 3}), positions({}, 6)},
           {real({}), positions({2}, 1)},
           {real({2, 3}), positions({0}, 6)}})
      .refuses("[take] index 6 is out of range for the 6 elements of (2, 3)",
               {real({2, 3}), integers({2}, 6, 7)})
      .refuses("[take] the index is float64, not int64", {real({2, 3}), real({2})});
  rows.op("masked_select", "torch.masked_select(a, b)",
          [](T a, T b) { return masked_select(a, b); })
      .on({{real({2, 3}), bools({2, 3})},
           {real({2, 3}), bools({3})},
           {real({3}), bools({2, 1})},
           {real({}), bools({})},
           {real({0, 3}), bools({3})}})
      .refuses("[masked_select] the mask must be bool, not int64",
               {real({2}), integers({2}, 0, 2)});
  rows.op("masked_scatter", "torch.masked_scatter(a, b, c)",
          [](T a, T b, T c) { return masked_scatter(a, b, c); })
      .on({{real({2, 3}), bools({2, 3}), real({3, 3})},
           {real({2, 3}), bools({3}), real({6})},
           {real({3}), bools({2, 1}), real({6})},
           {real({}), bools({}), real({1})}})
      .in_place([](T a, T b, T c) { return a.masked_scatter_(b, c); })
      .refuses(
          "[masked_scatter] the source needs 1 elements, one for each true element of the mask, "
          "but (0,) has 0",
          {real({}), bools({}).in(1, 1), real({0})})
      .refuses("[masked_scatter] the source must have the tensor's dtype float64, but is float32",
               {real({2}), bools({2}), real({2}).as(float32)});
  rows.op("nonzero", "torch.nonzero(a)", [](T a) { return nonzero(a); })
      .on({{real({2, 3}).grid(1).constant()},
           {integers({3, 2, 2}, 0, 2)},
           {bools({4})},
           {bools({})},
           {bools({0, 2})}});
  rows.op("nonzero_numpy", "torch.nonzero(a, as_tuple=True)", [](T a) { return nonzero_numpy(a); })
      .on({{real({2, 3}).grid(1).constant()}, {bools({4})}, {bools({})}});
}

}  // namespace

std::vector<Op> advanced_indexing_rows() {
  Rows rows;
  one_tensor_rows(rows);
  several_tensor_rows(rows);
  put_rows(rows);
  slice_rows(rows);
  mask_rows(rows);
  return rows.take();
}

}  // namespace tend::test
