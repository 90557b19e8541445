// Rows for autograd/ops/rearrange.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

void order_rows(Rows& rows) {
  rows.op("flip", "torch.flip(a, (0, -1))",
          [](T a) {
            return flip(a, {0, -1});
          })
      .on({{real({2, 3})}, {real({2, 3, 4})}, {real({2, 0})}, {integers({2, 2, 2}, -9, 9)}})
      .refuses("[flip] dimension 0 appears more than once in (0, -1)", {real({3})});
  rows.op("flip", "torch.flip(a, (0,))", [](T a) { return flip(a, 0); })
      .on({{real({3})}, {real({3, 2})}, {real({})}, {bools({4})}});
  rows.op("flip", "torch.flip(a, (1,))", [](T a) { return flip(a, 1); })
      .on({{real({2, 4})}, {real({2, 1, 3})}})
      .refuses("[flip] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("flip", "torch.flip(a, ())", [](T a) { return flip(a, {}); })
      .on({{real({2, 3})}, {real({})}});
  rows.op("roll", "torch.roll(a, 2)", [](T a) { return roll(a, 2); })
      .on({{real({2, 3})}, {real({})}, {real({1})}, {real({0, 3})}, {real({2, 1, 2})}});
  rows.op("roll", "torch.roll(a, -4, 1)", [](T a) { return roll(a, -4, 1); })
      .on({{real({2, 3})}, {real({2, 0})}, {real({2, 4, 2})}})
      .refuses("[roll] a 0-d tensor has no dimension 1", {real({})});
  rows.op("roll", "torch.roll(a, (1, -2, 1), (0, -1, 0))",
          [](T a) {
            return roll(a, {1, -2, 1}, {0, -1, 0});
          })
      .on({{real({3, 3})}, {real({4})}, {integers({2, 2, 3}, 0, 9)}});
}

void repetition_rows(Rows& rows) {
  rows.op("repeat", "a.repeat(2, 1, 3)",
          [](T a) {
            return repeat(a, {2, 1, 3});
          })
      .on({{real({2, 3})}, {real({})}, {real({2})}, {real({2, 2, 2})}, {real({0, 2})}})
      .refuses("[repeat] repeats (2, 1, 3) must have a number for each dimension of (1, 1, 1, 2)",
               {real({1, 1, 1, 2})});
  rows.op("repeat", "a.repeat(0)", [](T a) { return repeat(a, {0}); })
      .on({{real({3})}, {real({})}});
  rows.op("repeat", "a.repeat(())", [](T a) { return repeat(a, {}); }).on({{real({})}});
  rows.op("tile", "torch.tile(a, (2, 2))",
          [](T a) {
            return tile(a, {2, 2});
          })
      .on({{real({2, 3})}, {real({3})}, {real({})}, {real({2, 1, 2})}})
      .refuses("[repeat] dimension 0 cannot be repeated -1 times", {real({2})},
               [](T a) { return tile(a, {-1}); });
  rows.op("repeat_interleave", "torch.repeat_interleave(a, 2)",
          [](T a) { return repeat_interleave(a, 2); })
      .on({{real({2, 3})}, {real({})}, {real({0, 2})}});
  rows.op("repeat_interleave", "torch.repeat_interleave(a, 3, -1)",
          [](T a) { return repeat_interleave(a, 3, -1); })
      .on({{real({2, 3})}, {real({3})}, {real({2, 1, 2})}})
      .refuses("[repeat_interleave] a 0-d tensor has no dimension -1", {real({})});
  rows.op("repeat_interleave", "torch.repeat_interleave(a, 0, 0)",
          [](T a) { return repeat_interleave(a, 0, 0); })
      .on({{real({2, 3})}});
  rows.op("repeat_interleave", "torch.repeat_interleave(a, b, 1)",
          [](T a, T b) { return repeat_interleave(a, b, 1); })
      .on({{real({2, 3}), integers({3}, 0, 3)},
           {real({2, 3}), integers({1}, 2, 3)},
           {real({2, 3, 2}), integers({}, 2, 3)},
           {real({2, 0}), integers({0}, 0, 1)}})
      .fixed_size()
      .refuses(
          "[repeat_interleave] repeats must be one number, or 3 for the size of dimension 1 of "
          "(2, 3), but has shape (2,)",
          {real({2, 3}), integers({2}, 0, 3)})
      .refuses("[repeat_interleave] an element cannot be repeated -2 times",
               {real({2, 3}), integers({3}, -2, -1)})
      .refuses("[repeat_interleave] repeats must be int64, but is float64",
               {real({2, 3}), real({3})});
  rows.op("repeat_interleave", "torch.repeat_interleave(a, b)",
          [](T a, T b) { return repeat_interleave(a, b); })
      .on({{real({2, 2}), integers({4}, 0, 3)}, {real({}), integers({}, 3, 4)}})
      .fixed_size();
  rows.op("repeat_interleave", "torch.repeat_interleave(a)",
          [](T a) { return repeat_interleave(a); })
      .on({{integers({4}, 0, 4)}, {integers({0}, 0, 1)}})
      .fixed_size()
      .refuses("[repeat_interleave] repeats must be 1-d, but has shape (2, 2)",
               {integers({2, 2}, 0, 3)});
}

void padding_rows(Rows& rows) {
  rows.op("pad", "F.pad(a, (1, 2))",
          [](T a) {
            return pad(a, {1, 2});
          })
      .on({{real({2, 3})}, {real({3})}, {real({2, 0})}, {bools({2})}})
      .refuses("[pad] padding must have two numbers for each of at most 0 dimensions, got (1, 2)",
               {real({})});
  rows.op("pad", "F.pad(a, (1, -1, -2, 1), value=0.5)",
          [](T a) {
            return pad(a, {1, -1, -2, 1}, PadMode::constant, 0.5);
          })
      .on({{real({3, 2})}, {real({2, 3, 4})}, {integers({2, 2}, 1, 9)}})
      .refuses("[pad] dimension 0 of (1, 2) is too small to cut off 2 before and -1 after",
               {real({1, 2})});
  rows.op("pad", "F.pad(a, (-2, -2))",
          [](T a) {
            return pad(a, {-2, -2});
          })
      .on({{real({5})}, {real({2, 4})}})
      .refuses("[pad] padding by -2 before and -2 after does not fit dimension 0 of (3,)",
               {real({3})});
  rows.op("pad", "F.pad(a, ())", [](T a) { return pad(a, {}); }).on({{real({2})}, {real({})}});
  rows.op("pad", "F.pad(a, (2, 1), 'reflect')",
          [](T a) {
            return pad(a, {2, 1}, PadMode::reflect);
          })
      .on({{real({2, 3})}, {real({2, 2, 4})}, {real({0, 2, 3})}, {integers({1, 3}, 0, 9)}})
      .refuses("[pad] dimension 1 of (2, 2) is too small to be padded by 2 and 1 of its elements",
               {real({2, 2})})
      .refuses(
          "[pad] padding (2, 1) of (3,): a mode other than constant pads the last 1, 2 or 3 "
          "dimensions of a tensor that has 1 or 2 dimensions more",
          {real({3})});
  rows.op("pad", "F.pad(a, (-2, 3), 'reflect')",
          [](T a) {
            return pad(a, {-2, 3}, PadMode::reflect);
          })
      .on({{real({2, 4})}});
  rows.op("pad", "F.pad(a, (1, 0, 2, 1), 'reflect')",
          [](T a) {
            return pad(a, {1, 0, 2, 1}, PadMode::reflect);
          })
      .on({{real({1, 3, 2})}, {real({1, 2, 3, 3})}});
  rows.op("pad", "F.pad(a, (2, 3), 'replicate')",
          [](T a) {
            return pad(a, {2, 3}, PadMode::replicate);
          })
      .on({{real({2, 3})}, {real({2, 1, 1})}})
      .refuses("[pad] dimension 1 of (2, 0) must not be empty in this mode", {real({2, 0})});
  rows.op("pad", "F.pad(a, (-5, 6), 'replicate')",
          [](T a) {
            return pad(a, {-5, 6}, PadMode::replicate);
          })
      .on({{real({2, 4})}})
      .fixed_size();
  rows.op("pad", "F.pad(a, (1, 1, 0, 1, 2, 0), 'replicate')",
          [](T a) {
            return pad(a, {1, 1, 0, 1, 2, 0}, PadMode::replicate);
          })
      .on({{real({1, 2, 2, 2})}, {real({1, 1, 2, 1, 2})}});
  rows.op("pad", "F.pad(a, (2, 1), 'circular')",
          [](T a) {
            return pad(a, {2, 1}, PadMode::circular);
          })
      .on({{real({2, 3})}, {real({2, 2, 2})}})
      .refuses("[pad] dimension 1 of (2, 1) is too small to be padded by 2 and 1 of its elements",
               {real({2, 1})});
  rows.op("pad", "F.pad(a, (-2, 2, 1, 0), 'circular')",
          [](T a) {
            return pad(a, {-2, 2, 1, 0}, PadMode::circular);
          })
      .on({{real({1, 2, 4})}});
}

}  // namespace

std::vector<Op> rearrange_rows() {
  Rows rows;
  order_rows(rows);
  repetition_rows(rows);
  padding_rows(rows);
  return rows.take();
}

}  // namespace tend::test
