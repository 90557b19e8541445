#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor outer() {
  return tensor({true, false, true});
}

}  // namespace

TEST_CASE("where promotes its two sides") {
  const Tensor integers = tensor({1, 2, 3});
  CHECK(where(outer(), 1, 2.5).dtype() == float32);
  CHECK(where(outer(), 1, 2).dtype() == int64);
  CHECK(where(outer(), true, false).equal(outer()));
  CHECK(same(where(outer(), integers, 1.5), {1, 1.5, 3}));
  CHECK(same(where(outer(), 0.5, integers), {0.5, 2, 0.5}));
  CHECK(where(outer(), integers, tensor({1.}, float64)).dtype() == float64);
  CHECK(where(outer(), tensor({1.}), tensor(1., float64)).dtype() == float32);
  // Not rounded to float32 on the way.
  CHECK(same(where(outer(), 0.1, zeros({3}, float64)), {0.1, 0, 0.1}));
  CHECK(integers.where(outer(), 0).equal(tensor({1, 0, 3})));
}

TEST_CASE("where broadcasts all three tensors") {
  const Tensor condition = outer().unsqueeze(1);
  Tensor a = tensor({1., 2.}).requires_grad_();
  Tensor b = tensor(5.).requires_grad_();
  const Tensor y = where(condition, a, b);
  CHECK(y.shape() == Shape{3, 2});
  CHECK(same(y, {1, 2, 5, 5, 1, 2}));
  CHECK(y.grad_fn() == std::string("WhereBackward0"));
  y.sum().backward();
  CHECK(same(a.grad(), {2, 2}));
  CHECK(same(b.grad(), {2}));
  CHECK_THROWS_AS(where(outer(), ones({2}), ones({2})), ShapeError);
}

TEST_CASE("masks must be bool") {
  const Tensor x = tensor({1., 2., 3.});
  CHECK_THROWS_MATCHES(where(x, x, x), DTypeError,
                       says("[where] the condition must be bool, not float32"));
  CHECK_THROWS_MATCHES(x.masked_fill(tensor({1, 0, 1}), 0), DTypeError,
                       says("[masked_fill] the mask must be bool, not int64"));
}

TEST_CASE("masked_fill keeps the dtype of self") {
  const Tensor integers = tensor({1, 2, 3});
  CHECK(masked_fill(integers, outer(), 0.5).equal(tensor({0, 2, 0})));
  CHECK(masked_fill(outer(), outer(), 2).equal(outer()));
  CHECK_THROWS_MATCHES(masked_fill(integers, outer(), -kInf), DTypeError,
                       says("[masked_fill] int64 cannot hold the value -inf"));
  CHECK_THROWS_AS(masked_fill(integers, outer(), kNaN), DTypeError);
  CHECK_THROWS_AS(masked_fill(integers, outer(), 0x1p63), DTypeError);
  CHECK(masked_fill(tensor({1., 2., 3.}), outer(), tensor(0.1, float64)).dtype() == float32);
}

TEST_CASE("masked_fill broadcasts self, but not in place") {
  const Tensor mask = ones({2, 3}, boolean);
  CHECK(masked_fill(zeros({3}), mask, 1).equal(ones({2, 3})));
  CHECK_THROWS_MATCHES(
      zeros({3}).masked_fill_(mask, 1), ShapeError,
      says("[masked_fill_] the result has shape (2, 3), which does not fit in place of (3,)"));
  CHECK_THROWS_AS(masked_fill(zeros({3}), ones({2}, boolean), 1), ShapeError);
}

TEST_CASE("a masked element sends back nothing, not even NaN") {
  const Tensor x = tensor({1., 2., 3.});
  const auto filled = [](const Tensor& leaf) { return masked_fill(leaf, outer(), 0) * kInf; };
  CHECK(same(slope(filled, x), {0, kInf, 0}));
  const auto chosen = [](const Tensor& leaf) { return where(outer(), leaf * 2, 0) * kNaN; };
  CHECK(same(slope(chosen, x), {kNaN, 0, kNaN}));
}

TEST_CASE("masked_fill with a tensor passes the gradient of the masked elements to it") {
  Tensor x = tensor({1., 2., 3.}).requires_grad_();
  Tensor value = tensor(7.).requires_grad_();
  const Tensor y = x.masked_fill(outer(), value);
  CHECK(y.grad_fn() == std::string("MaskedFillBackward1"));
  CHECK(same(y, {7, 2, 7}));
  (y * tensor({1., 10., 100.})).sum().backward();
  CHECK(same(x.grad(), {0, 10, 0}));
  CHECK(same(value.grad(), {101}));
  CHECK_THROWS_MATCHES(x.masked_fill(outer(), tensor({7.})), ShapeError,
                       says("[masked_fill] the value must be a 0-d tensor, not (1,)"));
}

TEST_CASE("masked_fill_ writes through a view, and the hidden elements get no gradient") {
  Tensor leaf = ones({2, 3}).requires_grad_();
  const Tensor base = leaf * 2;
  const Tensor column = base.select(1, 1);
  column.masked_fill_(tensor({true, false}), -1);
  CHECK(same(base, {2, -1, 2, 2, 2, 2}));
  CHECK(column.version() == base.version());
  base.sum().backward();
  CHECK(same(leaf.grad(), {2, 0, 2, 2, 2, 2}));
}

TEST_CASE("a mask that changed since is noticed by backward") {
  const Tensor mask = outer();
  const Tensor x = tensor({1., 2., 3.}).requires_grad_();
  const Tensor y = x.masked_fill(mask, 0);
  mask.fill_(false);
  CHECK_THROWS_AS(y.sum().backward(), AutogradError);
}

TEST_CASE("tril and triu keep a triangle of each matrix") {
  const Tensor x = ones({2, 2, 3});
  CHECK(same(tril(x)[1], {1, 0, 0, 1, 1, 0}));
  CHECK(same(triu(x, 1)[0], {0, 1, 1, 0, 0, 1}));
  CHECK(tril(x, -5).equal(zeros({2, 2, 3})));
  CHECK(triu(x, -5).equal(x));
  CHECK(tril(ones({2, 2}, boolean)).dtype() == boolean);
  CHECK(same(slope([](auto& leaf) { return triu(leaf, 1); }, ones({2, 2})), {0, 1, 0, 0}));
  CHECK(ones({2, 2}).requires_grad_().tril().grad_fn() == std::string("TrilBackward0"));
  CHECK_THROWS_MATCHES(tril(ones({3})), ShapeError,
                       says("[tril] needs at least 2 dimensions, got shape (3,)"));
  const Tensor y = ones({2, 2});
  y.triu_().tril_();
  CHECK(same(y, {1, 0, 0, 1}));
}

TEST_CASE("clamp passes the gradient on its bounds and between them") {
  const Tensor x = tensor({-1., 0., 0.5, 1., 2., kNaN});
  const auto between = [](const Tensor& leaf) { return clamp(leaf, 0, 1); };
  CHECK(same(between(x), {0, 0, 0.5, 1, 1, kNaN}));
  CHECK(same(slope(between, x), {0, 1, 1, 1, 0, 0}));
  CHECK(
      same(slope([](auto& leaf) { return clamp(leaf, std::nullopt, 0); }, x), {1, 1, 0, 0, 0, 0}));
  CHECK(same(slope([](auto& leaf) { return clamp(leaf, 2, 1); }, x), {0, 0, 0, 0, 0, 0}));
  CHECK(Tensor(x).requires_grad_().clamp(0).grad_fn() == std::string("ClampBackward1"));
}

// PyTorch's results, which are the same in its vectors and in what is left over.
TEST_CASE(
    "a bound that is NaN changes nothing by itself, and makes everything NaN beside another") {
  const DType dtype = GENERATE(float32, float64);
  const Tensor x = arange(-20, 17, 1, dtype);
  const Tensor nothing = full({37}, kNaN, dtype);
  CHECK(clamp(x, kNaN).equal(x));
  CHECK(clamp(x, std::nullopt, kNaN).equal(x));
  CHECK(clip(x.t(), kNaN).equal(x));
  CHECK(x.clone().clamp_(kNaN).equal(x));
  CHECK(same(clamp(tensor({1., kNaN}), kNaN), {1, kNaN}));
  CHECK(same(clamp(tensor({1, 2}), kNaN), {1, 2}));
  CHECK(clamp(tensor({1, 2}), kNaN).dtype() == float32);
  const auto all_nan = [](const Tensor& y) { return y.isnan().all().item<bool>(); };
  CHECK(all_nan(clamp(x, kNaN, 1)));
  CHECK(all_nan(clamp(x, -1, kNaN)));
  CHECK(all_nan(clamp(x, kNaN, kNaN)));
  CHECK(all_nan(clamp_min(x, kNaN)));
  CHECK(all_nan(clamp_max(x, kNaN)));
  CHECK(all_nan(clamp(x, full({}, kNaN, dtype), {})));
  const auto slopes = [&](auto f) { return values(slope(f, tensor({-3., 0., 3., kNaN}))); };
  const std::vector<double> none(4, 0);
  CHECK(slopes([](auto& leaf) { return clamp(leaf, kNaN); }) == none);
  CHECK(slopes([](auto& leaf) { return clamp(leaf, std::nullopt, kNaN); }) == none);
  CHECK(slopes([](auto& leaf) { return clamp(leaf, kNaN, 1); }) == none);
  CHECK(slopes([](auto& leaf) { return clamp_min(leaf, kNaN); }) == none);
}

TEST_CASE("clamp promotes to the dtype of its bounds") {
  const Tensor x = tensor({1, 2, 0});
  CHECK(same(clamp(x, 0.5), {1, 2, 0.5}));
  CHECK(clamp(x, 0, 1).dtype() == int64);
  CHECK_THROWS_AS(clamp(x, std::nullopt), Error);
  CHECK_THROWS_AS(x.clamp_(0.5), DTypeError);
  x.clamp_(1);
  CHECK(x.equal(tensor({1, 2, 1})));
}

namespace {

// The gradients of f(inputs).sum().
template <class F>
std::vector<Tensor> all_slopes(F f, std::vector<Tensor> inputs) {
  for (Tensor& each : inputs) each = each.detach().requires_grad_();
  return autograd::grad({f(inputs).sum()}, inputs);
}

}  // namespace

TEST_CASE("clamp between tensors sends the gradient to the bound that holds") {
  const Tensor x = tensor({0., 1., 2., 3., 1., kNaN, 1.});
  const Tensor lo = tensor({1., 1., 1., 1., 3., 1., kNaN});
  const Tensor hi = tensor({2., 2., 2., 2., 2., 2., 2.});
  const auto between = [](const std::vector<Tensor>& t) { return clamp(t[0], t[1], t[2]); };
  CHECK(same(between({x, lo, hi}), {1, 1, 2, 2, 2, kNaN, kNaN}));
  const std::vector<Tensor> gradients = all_slopes(between, {x, lo, hi});
  CHECK(same(gradients[0], {0, 1, 1, 0, 0, 0, 0}));
  CHECK(same(gradients[1], {1, 0, 0, 0, 0, 0, 0}));
  CHECK(same(gradients[2], {0, 0, 0, 1, 1, 0, 0}));
  CHECK_THROWS_MATCHES(clamp(x, Tensor(), Tensor()), Error,
                       says("[clamp] needs a lower or an upper bound"));
}

TEST_CASE("clamps carry the names of PyTorch's nodes") {
  const Tensor x = ones({2}).requires_grad_();
  const auto name = [](const Tensor& t) { return std::string(t.grad_fn()); };
  CHECK(name(clamp(x, x, {})) == "ClampBackward0");
  CHECK(name(clamp_min(x, 0)) == "ClampMinBackward0");
  CHECK(name(clamp_min(x, x)) == "ClampMinBackward1");
  CHECK(name(clamp_max(x, 0)) == "ClampMaxBackward0");
  CHECK(name(clamp_max(x, x)) == "ClampMaxBackward1");
  CHECK(name(nan_to_num(x)) == "NanToNumBackward0");
}

TEST_CASE("nan_to_num takes the largest numbers of the dtype, and stops the gradient") {
  const Tensor x = tensor({kNaN, kInf, -kInf, 1.5});
  constexpr double kLargest = std::numeric_limits<float>::max();
  CHECK(same(nan_to_num(x), {0, kLargest, -kLargest, 1.5}));
  CHECK(same(nan_to_num(x.to(float64), kNaN, std::nullopt, 7),
             {kNaN, std::numeric_limits<double>::max(), 7, 1.5}));
  const auto poisoned = [](auto& leaf) { return nan_to_num(leaf) * kInf; };
  CHECK(same(slope(poisoned, x), {0, 0, 0, kInf}));
  CHECK(nan_to_num(tensor({1, 2}), 1.5).equal(tensor({1, 2})));
}

TEST_CASE("tril and triu of no matrices take no room for one") {
  const Shape shape = {0, std::int64_t{1} << 30, std::int64_t{1} << 30};
  CHECK(tril(zeros(shape)).shape() == shape);
  CHECK(triu(zeros(shape)).shape() == shape);
}
