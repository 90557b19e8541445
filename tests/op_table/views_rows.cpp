// Rows for autograd/ops/views.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

void piece_rows(Rows& rows) {
  rows.op("select", "a.select(1, -2)", [](T a) { return select(a, 1, -2); })
      .on({{real({2, 3})}, {real({2, 3, 2})}, {real({0, 3})}})
      .refuses("[select] index -2 is out of range for dimension 1 of (2, 1)", {real({2, 1})})
      .refuses("[select] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("slice", "a[:, 1::2]", [](T a) { return slice(a, 1, 1, std::nullopt, 2); })
      .on({{real({2, 5})}, {real({2, 4, 2})}, {real({2, 1})}, {real({0, 3})}});
  rows.op("slice", "a[-2:]", [](T a) { return slice(a, 0, -2, std::nullopt); })
      .on({{real({5})}, {real({1})}, {real({3, 2})}})
      .refuses("[slice] a 0-d tensor has no dimension to slice", {real({})});
  rows.op("narrow", "torch.narrow(a, -1, 1, 2)", [](T a) { return narrow(a, -1, 1, 2); })
      .on({{real({2, 4})}, {real({3})}})
      .refuses("[narrow] start 1 with length 2 exceeds dimension 1 of (2, 2)", {real({2, 2})});
  rows.op("index", "a[1:, None, ..., 0]",
          [](T a) {
            return a[{Slice{1, {}}, newaxis, ellipsis, 0}];
          })
      .on({{real({3, 2})}, {real({2, 2, 3})}})
      .refuses("[index] too many indices: 2 for a tensor of 1 dimensions, shape (3,)", {real({3})});
  rows.op("index", "a[...]", [](T a) { return a[{ellipsis}]; }).on({{real({})}, {real({2, 2})}});
  rows.op("diagonal", "torch.diagonal(a, 1, 0, -1)", [](T a) { return diagonal(a, 1, 0, -1); })
      .on({{real({3, 3})}, {real({2, 4})}, {real({4, 2})}, {real({3, 2, 4})}, {real({0, 3})}})
      .refuses("[diagonal] needs two different dimensions of (3,), got 0 and 0", {real({3})});
  rows.op("diagonal", "torch.diagonal(a, -1)", [](T a) { return diagonal(a, -1); })
      .on({{real({3, 3})}, {real({1, 4})}});
}

void shape_rows(Rows& rows) {
  rows.op("transpose", "torch.transpose(a, 0, -1)", [](T a) { return transpose(a, 0, -1); })
      .on({{real({2, 3})}, {real({2, 3, 4})}, {real({})}, {real({0, 3})}})
      .reshaping_in_place([](T a) { return a.transpose_(0, -1); })
      .refuses("[transpose] dimension 2 is out of range [-2, 1] for 2 dimensions", {real({2, 3})},
               [](T a) { return transpose(a, 0, 2); });
  rows.op("swapaxes", "torch.swapaxes(a, 1, 0)", [](T a) { return swapaxes(a, 1, 0); })
      .on({{real({2, 3})}, {real({2, 3, 4})}})
      .reshaping_in_place([](T a) { return a.swapaxes_(1, 0); })
      .refuses("[transpose] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("t", "a.t()", [](T a) { return t(a); })
      .on({{real({2, 3})}, {real({3})}, {real({})}})
      .reshaping_in_place([](T a) { return a.t_(); })
      .refuses("[t] needs at most 2 dimensions, got (2, 3, 4)", {real({2, 3, 4})});
  rows.op("permute", "torch.permute(a, (2, 0, -2))",
          [](T a) {
            return permute(a, {2, 0, -2});
          })
      .on({{real({2, 3, 4})}, {real({2, 0, 1})}})
      .refuses("[permute] needs each of the 2 dimensions of (2, 3) once, got (2, 0, -2)",
               {real({2, 3})});
  rows.op("permute", "torch.permute(a, ())", [](T a) { return permute(a, {}); })
      .on({{real({})}})
      .refuses("[permute] needs each of the 1 dimensions of (3,) once, got ()", {real({3})});
  rows.op("movedim", "torch.movedim(a, 0, -2)", [](T a) { return movedim(a, 0, -2); })
      .on({{real({2, 3, 4})}, {real({2, 3})}, {real({2, 0, 3, 2})}})
      .refuses("[movedim] dimension -2 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("movedim", "torch.movedim(a, (0, -1), (1, 0))",
          [](T a) {
            return movedim(a, {0, -1}, {1, 0});
          })
      .on({{real({2, 3, 4})}, {real({2, 3})}, {real({2, 1, 3, 2})}})
      .refuses("[movedim] dimension 0 appears more than once in (0, -1)", {real({3})});
  rows.op("movedim", "torch.movedim(a, (), ())", [](T a) { return movedim(a, Shape{}, Shape{}); })
      .on({{real({2, 3})}, {real({})}});
  rows.op("expand_as", "a.expand_as(b)", [](T a, T b) { return expand_as(a, b); })
      .on({{real({2, 1}), real({2, 3}).constant()}, {real({}), real({2, 2}).constant()}})
      .refuses("[expand] (2, 3) has more dimensions than (3,)", {real({2, 3}), real({3})});
  rows.op("broadcast_to", "torch.broadcast_to(a, (2, 2, 3))",
          [](T a) {
            return broadcast_to(a, {2, 2, 3});
          })
      .on({{real({2, 1})}, {real({})}, {real({3})}})
      .fixed_size()
      .refuses("[expand] (2,) does not expand to (2, 2, 3): dimension -1 cannot change from 2 to 3",
               {real({2})});
  rows.op("expand", "a.expand(2, -1, 3)",
          [](T a) {
            return expand(a, {2, -1, 3});
          })
      .on({{real({2, 1})}, {real({1, 2, 1})}, {real({2, 4, 3})}, {real({0, 1})}})
      .fixed_size()
      .refuses(
          "[expand] (2, 2) does not expand to (2, -1, 3): dimension -1 cannot change from 2 to 3",
          {real({2, 2})});
  rows.op("view", "a.view(3, -1)",
          [](T a) {
            return view(a, {3, -1});
          })
      .on({{real({2, 3})}, {real({3})}, {real({1, 3, 4})}})
      .contiguous_only()
      .refuses("[view] 4 elements do not fill shape (3, -1)", {real({2, 2})});
  rows.op("view_as", "a.view_as(b)", [](T a, T b) { return view_as(a, b); })
      .on({{real({2, 3}), real({3, 2}).constant()}, {real({}), real({1, 1}).constant()}})
      .contiguous_only()
      .refuses("[view] 6 elements do not fill shape (2, 2)", {real({2, 3}), real({2, 2})});
  rows.op("reshape_as", "a.reshape_as(b)", [](T a, T b) { return reshape_as(a, b); })
      .on({{real({2, 3}), real({3, 2}).constant()}, {real({4}), real({2, 2}).constant()}})
      .refuses("[reshape] 6 elements do not fill shape (2, 2)", {real({2, 3}), real({2, 2})});
  rows.op("reshape", "a.reshape(3, -1)",
          [](T a) {
            return reshape(a, {3, -1});
          })
      .on({{real({2, 3})}, {real({3})}, {real({2, 3, 2})}, {real({2, 0})}})
      .refuses("[reshape] 4 elements do not fill shape (3, -1)", {real({2, 2})});
  rows.op("flatten", "torch.flatten(a)", [](T a) { return flatten(a); }).on(unary_samples());
  rows.op("flatten", "torch.flatten(a, 1, -2)", [](T a) { return flatten(a, 1, -2); })
      .on({{real({2, 3, 2, 2})}, {real({2, 3, 2})}})
      .refuses("[flatten] start dimension 1 comes after end dimension 0", {real({2, 3})});
  rows.op("unflatten", "torch.unflatten(a, 1, (2, -1))",
          [](T a) {
            return unflatten(a, 1, {2, -1});
          })
      .on({{real({2, 4})}, {real({2, 6, 2})}, {real({0, 2})}, {real({2, 0})}})
      .refuses("[unflatten] 3 elements do not fill shape (2, -1)", {real({2, 3})})
      .refuses("[unflatten] a 0-d tensor has no dimension 1", {real({})});
  rows.op("unflatten", "torch.unflatten(a, -1, (3,))", [](T a) { return unflatten(a, -1, {3}); })
      .on({{real({2, 3})}})
      .fixed_size();
  rows.op("squeeze", "torch.squeeze(a)", [](T a) { return squeeze(a); })
      .on({{real({2, 1, 3})}, {real({1, 1})}, {real({})}, {real({1, 0})}})
      .reshaping_in_place([](T a) { return a.squeeze_(); });
  rows.op("squeeze", "torch.squeeze(a, -1)", [](T a) { return squeeze(a, -1); })
      .on({{real({2, 1})}, {real({2, 3})}, {real({})}})
      .reshaping_in_place([](T a) { return a.squeeze_(-1); });
  rows.op("squeeze", "torch.squeeze(a, (0, -1))",
          [](T a) {
            return squeeze(a, {0, -1});
          })
      .on({{real({1, 3, 1})}, {real({2, 1})}, {real({1, 0, 2})}})
      .refuses("[squeeze] dimension 0 appears more than once in (0, -1)", {real({1})});
  rows.op("squeeze", "torch.squeeze(a, ())", [](T a) { return squeeze(a, Shape{}); })
      .on({{real({1, 3, 1})}, {real({})}})
      .reshaping_in_place([](T a) { return a.squeeze_(Shape{}); });
  rows.op("unsqueeze", "torch.unsqueeze(a, -2)", [](T a) { return unsqueeze(a, -2); })
      .on({{real({2, 3})}, {real({3})}, {real({0})}})
      .reshaping_in_place([](T a) { return a.unsqueeze_(-2); })
      .refuses("[unsqueeze] dimension -2 is out of range [-1, 0] for 1 dimensions", {real({})});
  rows.op("unfold", "a.unfold(0, 3, 2)", [](T a) { return unfold(a, 0, 3, 2); })
      .on({{real({8})}, {real({5, 2})}, {real({3})}, {real({4, 0})}, {real({6}).as(float32)}})
      .refuses("[unfold] windows of size 3 do not fit dimension 0 of (2, 4)", {real({2, 4})});
  rows.op("unfold", "a.unfold(-1, 2, 1)", [](T a) { return unfold(a, -1, 2, 1); })
      .on({{real({2, 5})}, {real({2, 2, 3})}, {integers({4}, 0, 9)}})
      .refuses("[unfold] windows of size 2 do not fit dimension 0 of ()", {real({})});
  rows.op("unfold", "a.unfold(1, 2, 3)", [](T a) { return unfold(a, 1, 2, 3); })
      .on({{real({2, 8})}, {real({2, 2, 2})}, {real({2, 4})}});
  rows.op("unfold", "a.unfold(0, 1, 5)", [](T a) { return unfold(a, 0, 1, 5); })
      .on({{real({})}, {real({3})}});
  rows.op("unfold", "a.unfold(0, 0, 2)", [](T a) { return unfold(a, 0, 0, 2); })
      .on({{real({3, 2})}, {real({})}});
  rows.op("unfold", "a.unfold(0, 2, 1).unfold(0, 2, 1)",
          [](T a) { return unfold(unfold(a, 0, 2, 1), 0, 2, 1); })
      .on({{real({5})}, {real({4, 2})}});
  rows.op("unfold_backward", "torch.ops.aten.unfold_backward(a, (2, 5), 1, 3, 2)",
          [](T a) {
            return unfold_backward(a, {2, 5}, 1, 3, 2);
          })
      .on({{real({2, 2, 3})}})
      .fixed_size()
      .refuses(
          "[unfold_backward] the windows of size 3 along dimension 1 of (2, 5) must have shape "
          "(2, 2, 3), but have (2, 3, 3)",
          {real({2, 3, 3})});
  rows.op("contiguous", "a.contiguous()", [](T a) { return contiguous(a); }).on(unary_samples());
  rows.op("clone", "a.clone()", [](T a) { return clone(a); }).on(unary_samples());
  rows.op("to", "a.to(torch.float64)", [](T a) { return to(a, float64); })
      .on(unary_samples())
      .on({{integers({3}, -4, 5)}, {bools({3})}, {real({3}).as(float32)}});
  rows.op("to", "a.to(torch.float32).to(torch.float64)",
          [](T a) { return to(to(a, float32), float64); })
      .on({{real({2, 3}).grid(0.125)}, {real({}).grid(0.125)}})
      .steps(0x1p-10);  // float32 represents the elements exactly, also plus or minus one step
}

}  // namespace

std::vector<Op> views_rows() {
  Rows rows;
  piece_rows(rows);
  shape_rows(rows);
  return rows.take();
}

}  // namespace tend::test
