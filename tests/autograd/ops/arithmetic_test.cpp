#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

}  // namespace

TEST_CASE("a number does not raise the dtype within its category") {
  CHECK((tensor({1, 2}) * 2).dtype() == int64);
  CHECK((tensor({1, 2}) * 2.5).dtype() == float32);
  CHECK((tensor({1.}, float64) * 2).dtype() == float64);
  CHECK((tensor({1.}) * 2.5).dtype() == float32);
  CHECK((tensor({true}) * 2).dtype() == int64);
  CHECK(maximum(tensor({1, 2}), tensor({1.5, 1.5})).dtype() == float32);
  CHECK(maximum(tensor({1.}), tensor(1., float64)).dtype() == float32);
  CHECK(remainder(tensor({true}), 2).dtype() == int64);
  CHECK(floor_divide(tensor({7}), 2.5).dtype() == float32);
  CHECK(pow(tensor({2}), 0.5).dtype() == float32);
  CHECK(pow(2.5, tensor({2})).dtype() == float32);
  CHECK(square(tensor({true})).dtype() == int64);
}

TEST_CASE("arithmetic carries the names of PyTorch's nodes") {
  const Tensor x = tensor({0.5}).requires_grad_();
  const auto name = [](const Tensor& t) { return std::string(t.grad_fn()); };
  CHECK(name(pow(x, 2)) == "PowBackward0");
  CHECK(name(pow(x, x)) == "PowBackward1");
  CHECK(name(pow(2, x)) == "PowBackward2");
  CHECK(name(remainder(x, 2)) == "RemainderBackward0");
  CHECK(name(remainder(x, x)) == "RemainderBackward1");
  CHECK(name(1 - x) == "RsubBackward1");
  CHECK(name(rsub(x, x)) == "RsubBackward0");
  CHECK(name(x - 1) == "SubBackward0");
  CHECK(name(2 / x) == "MulBackward0");
  CHECK(name(x / 2) == "DivBackward0");
  CHECK(name(fmod(x, 2)) == "FmodBackward0");
  CHECK(name(fmod(x, x)) == "FmodBackward1");
  CHECK(name(addcmul(x, x, x)) == "AddcmulBackward0");
  CHECK(name(addcdiv(x, x, x)) == "AddcdivBackward0");
  CHECK(name(lerp(x, x, 0.5)) == "LerpBackward0");
  CHECK(name(lerp(x, x, x)) == "LerpBackward1");
  CHECK(name(maximum(x, x)) == "MaximumBackward0");
  CHECK(name(minimum(x, x)) == "MinimumBackward0");
}

TEST_CASE("maximum and minimum halve the gradient of equal elements") {
  const Tensor a = tensor({1., 2., kNaN, 1., kInf});
  const Tensor b = tensor({1., 1., 1., kNaN, kInf});
  CHECK(same(maximum(a, b), {1, 2, kNaN, kNaN, kInf}));
  CHECK(same(minimum(a, b), {1, 1, kNaN, kNaN, kInf}));
  const auto of_maximum = slopes(tend::maximum, a, b);
  CHECK(same(of_maximum[0], {0.5, 1, 1, 1, 0.5}));
  CHECK(same(of_maximum[1], {0.5, 0, 1, 1, 0.5}));
  const auto of_minimum = slopes(tend::minimum, a, b);
  CHECK(same(of_minimum[0], {0.5, 0, 1, 1, 0.5}));
  CHECK(same(of_minimum[1], {0.5, 1, 1, 1, 0.5}));
}

TEST_CASE("abs of a floating number is not C's of an int") {
  CHECK(abs(tensor(-0.25).item()) == 0.25);
  CHECK(abs(-2.5F) == 2.5F);
  CHECK(abs(-3) == 3);
}

TEST_CASE("abs and sign are flat at zero") {
  const Tensor x = tensor({-2., 0., kNaN, -kInf});
  CHECK(same(abs(x), {2, 0, kNaN, kInf}));
  CHECK(same(sign(x), {-1, 0, 0, -1}));
  CHECK(same(slope(tend::abs, x), {-1, 0, 0, -1}));
  CHECK(same(slope(tend::sign, x), {0, 0, 0, 0}));
  CHECK(sign(tensor({true, false})).equal(tensor({true, false})));
}

TEST_CASE("floor_divide and remainder have Python's signs") {
  const Tensor a = tensor({-7, 7, -7, 7});
  const Tensor b = tensor({2, 2, -2, -2});
  CHECK(same(floor_divide(a, b), {-4, 3, 3, -4}));
  CHECK(same(remainder(a, b), {1, 1, -1, -1}));
  CHECK(same(floor_divide(a * 1., b), {-4, 3, 3, -4}));
  CHECK(same(remainder(a * 1., b), {1, 1, -1, -1}));
  CHECK(same(floor_divide(tensor({1., -1., 0.}), 0), {kInf, -kInf, kNaN}));
  CHECK(same(remainder(tensor({1.}), 0), {kNaN}));
  const auto gradients = slopes([](auto& x, auto& y) { return remainder(x, y); },
                                tensor({5., -5., 5., -5.}), tensor({3., 3., -3., -3.}));
  CHECK(same(gradients[0], {1, 1, 1, 1}));
  CHECK(same(gradients[1], {-1, 2, 2, -1}));
}

TEST_CASE("integers overflow by wrapping around") {
  const Tensor smallest = tensor({kSmallest});
  CHECK(neg(smallest).equal(smallest));
  CHECK(abs(smallest).equal(smallest));
  CHECK(floor_divide(smallest, -1).equal(smallest));
  CHECK(same(remainder(smallest, -1), {0}));
  CHECK(same(pow(tensor({2}), 64), {0}));
  CHECK(pow(tensor({-2}), 63).equal(smallest));
}

TEST_CASE("an integer division by zero is an error before anything is written") {
  const Tensor x = tensor({1, 2});
  const std::string why = "integer division by zero: the divisor of shape (2,) holds a 0";
  CHECK_THROWS_MATCHES(floor_divide(x, tensor({1, 0})), Error, says("[floor_divide] " + why));
  CHECK_THROWS_MATCHES(remainder(x, tensor({1, 0})), Error, says("[remainder] " + why));
  CHECK_THROWS_AS(x.remainder_(0), Error);
  CHECK(x.equal(tensor({1, 2})));
}

TEST_CASE("operations without a meaning for bools say so") {
  const Tensor b = tensor({true});
  CHECK_THROWS_MATCHES(neg(b), DTypeError,
                       says("[neg] a bool tensor has no negative; use logical_not"));
  CHECK_THROWS_MATCHES(abs(b), DTypeError, says("[abs] needs int64, float32 or float64, got bool"));
  CHECK_THROWS_AS(pow(b, b), DTypeError);
  CHECK_THROWS_AS(floor_divide(b, b), DTypeError);
  CHECK_THROWS_AS(remainder(b, b), DTypeError);
  CHECK_THROWS_AS(b - b, DTypeError);
}

TEST_CASE("shapes that do not broadcast are named") {
  const Tensor a = zeros({2, 3});
  const Tensor b = zeros({2, 4});
  using Operation = Tensor (*)(const Tensor&, const Tensor&);
  for (const Operation call :
       std::initializer_list<Operation>{maximum, minimum, remainder, floor_divide, pow}) {
    CHECK_THROWS_WITH(call(a, b), Catch::Matchers::ContainsSubstring("(2, 3)") &&
                                      Catch::Matchers::ContainsSubstring("(2, 4)"));
  }
}

TEST_CASE("powers with a function of their own are that function") {
  const Tensor x = tensor({-kInf, -0.0, 4.});
  CHECK(same(pow(x, 0.5), {kNaN, 0, 2}));
  CHECK(same(pow(x, -0.5), {kNaN, -kInf, 0.5}));
  CHECK(same(pow(x, -1), {0, -kInf, 0.25}));
  CHECK(same(pow(x, 1), {-kInf, 0, 4}));
  CHECK(same(pow(x, 2), {kInf, 0, 16}));
  CHECK(same(pow(x, tensor({0.5, 0.5, 0.5})), {kInf, 0, 2}));
}

TEST_CASE("integers have no negative powers") {
  CHECK_THROWS_MATCHES(pow(tensor({1, 2}), -1), Error,
                       says("[pow] int64 to the power of -1: integers have no negative powers"));
  CHECK(same(pow(tensor({1, -1, 2, 0}), tensor({-1, -3, -1, -1})), {1, -1, 0, 0}));
}

TEST_CASE("the slopes of pow at base zero are those of PyTorch") {
  const Tensor base = tensor({0., 0., 0., 2., -1., -2.});
  const Tensor exponent = tensor({0., 2., -1., 3., 2., 0.5});
  const auto gradients = slopes([](auto& x, auto& p) { return pow(x, p); }, base, exponent);
  CHECK(same(gradients[0], {0, 0, -kInf, 12, -2, kNaN}));
  CHECK_THAT(values(gradients[1])[3], Catch::Matchers::WithinRel(8 * std::log(2.0), 1e-6));
  CHECK(same(gradients[1].slice(0, 0, 3), {0, 0, -kInf}));
  CHECK(same(gradients[1].slice(0, 4, 6), {kNaN, kNaN}));
  CHECK(same(slope([](auto& x) { return pow(x, 0); }, tensor({0., 2., kNaN})), {0, 0, 0}));
  CHECK(same(slope([](auto& x) { return pow(x, 0.5); }, tensor({0., 4.})), {kInf, 0.25}));
  CHECK(same(slope([](auto& p) { return pow(0, p); }, tensor({0., 2., -1.})), {0, 0, -kInf}));
  CHECK(same(slope([](auto& p) { return pow(1, p); }, tensor({0., 2., kNaN})), {0, 0, 0}));
}

TEST_CASE("a power whose exponent alone is floating has gradients of its dtype") {
  const Tensor base = tensor({2, 3});
  Tensor exponent = tensor({2., 1.}, float64).requires_grad_();
  pow(base, exponent).sum().backward();
  CHECK(exponent.grad().dtype() == float64);
  // Computed in float64, log(2) of an integer too.
  CHECK_THAT(values(exponent.grad())[0], Catch::Matchers::WithinRel(4 * std::log(2.0), 1e-15));
}

TEST_CASE("arithmetic in place with a broadcast other does not grow self") {
  const Tensor x = zeros({3});
  CHECK_THROWS_MATCHES(
      x.pow_(ones({2, 3})), ShapeError,
      says("[pow_] the result has shape (2, 3), which does not fit in place of (3,)"));
  CHECK_THROWS_AS(tensor({1, 2}).pow_(0.5), DTypeError);
  const Tensor y = tensor({{7., 8.}, {9., 10.}});
  y.remainder_(tensor({4., 3.}));
  CHECK(same(y, {3, 2, 1, 1}));
  y.floor_divide_(2).pow_(2);
  CHECK(same(y, {1, 1, 0, 0}));
}

TEST_CASE("a number over a tensor is its reciprocal times the number") {
  const Tensor x = tensor({4., 0., kInf});
  CHECK(same(2 / x, {0.5, kInf, 0}));
  CHECK(same(slope([](auto& leaf) { return 2 / leaf; }, x), {-0.125, -kInf, 0}));
  CHECK((2 / tensor({4})).dtype() == float32);
  CHECK((2.5 - tensor({1}, float64)).dtype() == float64);
}

TEST_CASE("positive is the tensor itself") {
  const Tensor x = tensor({1., -2.}).requires_grad_();
  CHECK((+x).impl() == x.impl());
  CHECK_FALSE((+x).grad_fn());
}

TEST_CASE("fmod has the sign of the dividend") {
  const Tensor a = tensor({-7., 7., -7., 7.});
  const Tensor b = tensor({3., 3., -3., kInf});
  CHECK(same(fmod(a, b), {-1, 1, -1, 7}));
  const auto gradients = slopes([](auto& x, auto& y) { return fmod(x, y); }, a, b);
  CHECK(same(gradients[0], {1, 1, 1, 1}));
  CHECK(same(gradients[1], {2, -2, -2, 0}));
  CHECK(same(fmod(tensor({1.}), 0), {kNaN}));
}

TEST_CASE("functions of three tensors promote them together") {
  const Tensor integers = tensor({1, 2}), floats = tensor({1., 2.});
  const Tensor wide = tensor(3., float64);  // a number gives way to a dimensioned tensor
  CHECK(addcmul(integers, wide, floats).dtype() == float32);
  CHECK(addcmul(integers, integers, wide).dtype() == float64);
  CHECK(addcmul(integers, tensor({true, false}), integers).equal(tensor({2, 2})));
  CHECK(addcdiv(integers, integers, floats).dtype() == float32);
  CHECK_THROWS_AS(lerp(floats, floats, wide), DTypeError);
}

TEST_CASE("the slopes of addcdiv do not overflow before their quotients do") {
  const Tensor x = tensor({1e-25}), zero = tensor({0.});
  const auto gradients =
      slopes([&](auto& a, auto& b) { return addcdiv(zero, a, b); }, tensor({1e-30}), x);
  CHECK_THAT(values(gradients[1]), near({-1e20}));  // x squared is 0 in float32
}

TEST_CASE("the slope of fmod by its divisor is flat, also where that is zero") {
  const Tensor a = tensor({1., 5.}).requires_grad_(), b = tensor({0., 2.}).requires_grad_();
  const Tensor once = autograd::grad({fmod(a, b).sum()}, {b}, {}, {.create_graph = true})[0];
  CHECK(same(once, {-kInf, -2}));
  for (const Tensor& twice : autograd::grad({once.sum()}, {a, b})) CHECK(same(twice, {0, 0}));
}
