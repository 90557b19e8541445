#include <type_traits>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor counting(const Shape& shape) {
  return arange(element_count(shape)).to(float64).reshape(shape);
}

}  // namespace

TEST_CASE("assignment to a temporary x[i] writes to x and assignment to a variable rebinds it") {
  static_assert(std::is_assignable_v<Indexed&&, const Tensor&>);
  static_assert(std::is_assignable_v<Indexed&&, Indexed>);
  static_assert(std::is_assignable_v<Indexed&&, double>);
  static_assert(!std::is_assignable_v<Tensor&&, const Tensor&>);
  static_assert(!std::is_assignable_v<Tensor&&, double>);
  Tensor x = counting({4});
  Tensor named = x[tensor({0, 1})];
  named = zeros({2});
  auto also_named = x[tensor({0, 1})];
  also_named += 5;
  CHECK(values(also_named) == std::vector<double>{5, 6});
  also_named = x[tensor({2})];
  CHECK(also_named.numel() == 1);
  CHECK(values(x) == std::vector<double>{0, 1, 2, 3});
  x[tensor({0, 1})] = x[tensor({2, 3})];
  CHECK(values(x) == std::vector<double>{2, 3, 2, 3});
}

TEST_CASE("every assignment operator on x[{i}] writes to x") {
  const Tensor x = tensor({5, 6, 7}), places = tensor({0, 2});
  x[{places}] %= 4;
  CHECK(equal(x, tensor({1, 6, 3})));
  x[{places}] |= 8;
  CHECK(equal(x, tensor({9, 6, 11})));
  x[{x > 8}] &= tensor({3, 10});
  CHECK(equal(x, tensor({1, 6, 10})));
  x[{places}] ^= 1;
  CHECK(equal(x, tensor({0, 6, 11})));
  const Tensor flags = tensor({true, true, false});
  flags[{places}] &= false;
  CHECK(equal(flags, tensor({false, true, false})));
}

TEST_CASE("x[{i}] += y adds only once to a position that i repeats") {
  Tensor x = zeros({3});
  x[{tensor({1, 1, 2})}] += 1;
  CHECK(values(x) == std::vector<double>{0, 1, 1});
  x[{tensor({1, 1, 2})}] += tensor({1.F, 5.F, 7.F});
  CHECK(values(x) == std::vector<double>{0, 6, 8});
  x[x > 7] -= 3;
  x[x > 5.5] *= 2;
  x[0] += 4;
  x[{Slice{0, 2}}] /= 4;
  CHECK(values(x) == std::vector<double>{1, 3, 5});
  x.index_put_({tensor({0, 0, 2})}, 1, true);
  CHECK(values(x) == std::vector<double>{3, 3, 6});
}

TEST_CASE("x[...] is a view if all indices are integers, 0-d integer tensors or slices") {
  Tensor x = counting({2, 3});
  CHECK(x[tensor(1)].data_ptr<double>() == x[1].data_ptr<double>());
  Tensor row = x[{tensor(-1), Slice{1, {}}}];
  row += 10;
  CHECK(values(x) == std::vector<double>{0, 1, 2, 3, 14, 15});
  CHECK(x[tensor({1})].data_ptr<double>() != x[1].data_ptr<double>());
  x[tensor(0)] = 7;
  CHECK(values(x) == std::vector<double>{7, 7, 7, 3, 14, 15});
}

TEST_CASE("dimensions of index tensors stay in place if they are adjacent and else come first") {
  const Tensor x = zeros({2, 3, 4, 5});
  const Tensor i = tensor({0, 1}), j = tensor({{0}, {1}, {1}});
  CHECK(x[{Slice{}, i, j}].shape() == Shape{2, 3, 2, 5});
  CHECK(x[{i, Slice{}, j}].shape() == Shape{3, 2, 3, 5});
  CHECK(x[{Slice{}, i, ellipsis, j}].shape() == Shape{3, 2, 2, 4});
  CHECK(x[{i, newaxis, j}].shape() == Shape{3, 2, 1, 4, 5});
  // An integer is applied first and does not count as an adjacent index. NumPy returns (2, 3, 4).
  CHECK(x[{0, Slice{}, Slice{}, i}].shape() == Shape{3, 4, 2});
  CHECK(x[{i, 0, Slice{}, i}].shape() == Shape{2, 4});
  CHECK(x[{Slice{}, zeros({3, 4}, boolean)}].shape() == Shape{2, 0, 5});
  CHECK(x[{ones({2, 3}, boolean), 0}].shape() == Shape{6, 5});
}

TEST_CASE("bools are new dimensions of size 1 or 0") {
  Tensor x = counting({2, 3});
  CHECK(x[true].shape() == Shape{1, 2, 3});
  CHECK(x[false].shape() == Shape{0, 2, 3});
  CHECK(x[{0, tensor(true)}].shape() == Shape{1, 3});
  CHECK(x[{tensor(true), tensor({0, 1, 1})}].shape() == Shape{3, 3});
  x[false] = 7;
  CHECK(values(x) == values(counting({2, 3})));
  x[true] = 7;
  CHECK(values(x) == std::vector<double>(6, 7));
}

TEST_CASE("indexed assignment sends gradients to the tensor and to the assigned values") {
  Tensor x = Tensor(ones({2, 3})).requires_grad_();
  Tensor v = Tensor(full({2}, 3.)).to(float32).requires_grad_();
  Tensor y = x * 2;
  y[{Slice{}, tensor({0, 2})}] = v;
  y[0][{tensor({1})}] += 1;  // through a view
  CHECK(values(y) == std::vector<double>{3, 3, 3, 3, 2, 3});
  CHECK(std::string(y.grad_fn()) == "CopySlices");
  (y * tensor({{1.F, 2.F, 3.F}, {4.F, 5.F, 6.F}})).sum().backward();
  CHECK(values(x.grad()) == std::vector<double>{0, 4, 0, 0, 10, 0});
  CHECK(values(v.grad()) == std::vector<double>{5, 9});
  Tensor z = x.clone();
  z[x > 0] = 4;
  CHECK(std::string(z.grad_fn()) == "IndexPutBackward0");
  CHECK(std::string(x[x > 0].grad_fn()) == "IndexBackward0");
}

TEST_CASE("backward notices that indexed assignment changed saved elements") {
  Tensor x = Tensor(ones({3})).requires_grad_();
  Tensor y = x * 2;
  const Tensor square = y * y;
  y[tensor({1})] = 5;
  CHECK_THROWS_MATCHES(square.sum().backward(), AutogradError,
                       says("[mul] a tensor of shape (3,) that was saved for backward was changed "
                            "later by [index_put_]: its version was 0 and is now 1"));
}

TEST_CASE("indexed assignment is checked before anything changes") {
  Tensor x = counting({2, 3});
  const Tensor i = tensor({0, 1});
  CHECK_THROWS_MATCHES(
      (x[{Slice{}, tensor({0, 3})}] = 1), IndexError,
      says("[index] index 1: position 3 is out of range for dimension 1 of (2, 3)"));
  CHECK_THROWS_MATCHES(
      (x[{i, i}] = zeros({3}, float64)), ShapeError,
      says("[index_put_] values of shape (3,) do not broadcast to the indexed positions, (2,)"));
  CHECK_THROWS_MATCHES((x[i] = zeros({})), DTypeError,
                       says("[index_put_] the values must have the tensor's dtype float64, but are "
                            "float32"));
  CHECK_THROWS_AS(x.index_put_({i}, zeros({1, 2, 3}, float64)), ShapeError);
  Tensor whole = arange(3);
  CHECK_THROWS_MATCHES((whole[tensor({0})] = kInf), DTypeError,
                       says("[index_put_] int64 cannot hold the value inf"));
  CHECK_THROWS_AS((zeros({3}).expand({2, 3})[i] = 1), ShapeError);
  CHECK_THROWS_AS((Tensor(zeros({3})).requires_grad_()[i] = 1), AutogradError);
  CHECK_THROWS_MATCHES((x[{ellipsis, ellipsis}]), IndexError,
                       says("[index] the indices must have at most one ellipsis"));
  CHECK_THROWS_AS(x[Tensor()], AutogradError);
  CHECK(values(x) == values(counting({2, 3})));
  CHECK(x.version() == 0);
}

TEST_CASE("unique treats each NaN as different and 0 and -0 as equal") {
  const UniqueElements found = unique(tensor({kNaN, 1., kNaN, 1.}), true, true, true);
  CHECK(same(found.values, {1, kNaN, kNaN}));
  CHECK(values(found.inverse) == std::vector<double>{1, 0, 2, 0});
  CHECK(values(found.counts) == std::vector<double>{2, 1, 1});
  CHECK(unique(tensor({0., -0.})).values.numel() == 1);
  CHECK_FALSE(unique(tensor({1})).counts.defined());
}

TEST_CASE("searchsorted puts NaN at the end and compares numbers of different dtypes") {
  const Tensor s = tensor({1., 3., 3., 5.});
  CHECK(values(searchsorted(s, tensor({0., 3., 5., 9., kNaN}))) ==
        std::vector<double>{0, 1, 3, 4, 4});
  CHECK(values(searchsorted(s, tensor({3, 5}), true)) == std::vector<double>{3, 4});
  CHECK(searchsorted(tensor({1, 2, 3}), 2.5).item<std::int64_t>() == 2);
  CHECK(searchsorted(s, 3).dim() == 0);
}

TEST_CASE("a single value assigned to a mask is converted to the tensor's dtype") {
  const Tensor mask = tensor({true, false, true}), value = tensor(1.5).requires_grad_();
  Tensor x = zeros({3}, float64);
  x[mask] = value;
  CHECK(values(x) == std::vector<double>{1.5, 0, 1.5});
  x.sum().backward();
  CHECK(value.grad().item() == 2);
  Tensor n = zeros({3, 2}, int64);
  n[mask] = tensor({1.5});  // as in PyTorch, 1.5 is truncated to 1
  CHECK(values(n) == std::vector<double>{1, 1, 0, 0, 1, 1});
  CHECK(values(index_put(n, {mask}, tensor(true))) == std::vector<double>{1, 1, 0, 0, 1, 1});
  n[{mask, tensor(0)}] = tensor(7.0);
  CHECK(values(n) == std::vector<double>{7, 1, 0, 0, 7, 1});
  CHECK_THROWS_AS((n[{tensor({0, 2})}] = tensor(1.5)), DTypeError);
  CHECK_THROWS_AS(n.index_put_({mask}, tensor(1.5), true), DTypeError);
  CHECK_THROWS_AS((n[{mask, tensor({0, 1})}] = tensor(1.5)), DTypeError);
  CHECK_THROWS_AS((n[mask] = tensor({1.5, 2.5})), DTypeError);
  CHECK_THROWS_AS((n[mask] = tensor(kInf)), Error);
}
