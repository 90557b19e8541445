#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor outer() {
  return tensor({true, false, true});
}

}  // namespace

TEST_CASE("where promotes the dtypes of its two branches") {
  const Tensor integers = tensor({1, 2, 3});
  CHECK(where(outer(), 1, 2.5).dtype() == float32);
  CHECK(where(outer(), 1, 2).dtype() == int64);
  CHECK(where(outer(), true, false).equal(outer()));
  CHECK(same(where(outer(), integers, 1.5), {1, 1.5, 3}));
  CHECK(same(where(outer(), 0.5, integers), {0.5, 2, 0.5}));
  CHECK(where(outer(), integers, tensor({1.}, float64)).dtype() == float64);
  CHECK(where(outer(), tensor({1.}), tensor(1., float64)).dtype() == float32);
  // 0.1 is not rounded to float32 first.
  CHECK(same(where(outer(), 0.1, zeros({3}, float64)), {0.1, 0, 0.1}));
  CHECK(integers.where(outer(), 0).equal(tensor({1, 0, 3})));
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

TEST_CASE("a masked element gets the gradient 0 even if the incoming gradient is NaN") {
  const Tensor x = tensor({1., 2., 3.});
  const auto filled = [](const Tensor& leaf) { return masked_fill(leaf, outer(), 0) * kInf; };
  CHECK(same(slope(filled, x), {0, kInf, 0}));
  const auto chosen = [](const Tensor& leaf) { return where(outer(), leaf * 2, 0) * kNaN; };
  CHECK(same(slope(chosen, x), {kNaN, 0, kNaN}));
}

TEST_CASE("clamp passes the gradient at its bounds and between them") {
  const Tensor x = tensor({-1., 0., 0.5, 1., 2., kNaN});
  const auto between = [](const Tensor& leaf) { return clamp(leaf, 0, 1); };
  CHECK(same(between(x), {0, 0, 0.5, 1, 1, kNaN}));
  CHECK(same(slope(between, x), {0, 1, 1, 1, 0, 0}));
  CHECK(
      same(slope([](auto& leaf) { return clamp(leaf, std::nullopt, 0); }, x), {1, 1, 0, 0, 0, 0}));
  CHECK(same(slope([](auto& leaf) { return clamp(leaf, 2, 1); }, x), {0, 0, 0, 0, 0, 0}));
  CHECK(Tensor(x).requires_grad_().clamp(0).grad_fn() == std::string("ClampBackward1"));
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

TEST_CASE("clamp with tensor bounds sends the gradient to the bound that applies") {
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

TEST_CASE("nan_to_num uses the largest numbers of the dtype and stops the gradient") {
  const Tensor x = tensor({kNaN, kInf, -kInf, 1.5});
  constexpr double kLargest = std::numeric_limits<float>::max();
  CHECK(same(nan_to_num(x), {0, kLargest, -kLargest, 1.5}));
  CHECK(same(nan_to_num(x.to(float64), kNaN, std::nullopt, 7),
             {kNaN, std::numeric_limits<double>::max(), 7, 1.5}));
  const auto poisoned = [](auto& leaf) { return nan_to_num(leaf) * kInf; };
  CHECK(same(slope(poisoned, x), {0, 0, 0, kInf}));
  CHECK(nan_to_num(tensor({1, 2}), 1.5).equal(tensor({1, 2})));
}
