#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

struct Function {
  const char* name;
  Tensor (*call)(const Tensor&);
  const Tensor& (Tensor::*in_place)() const;
};

const std::vector<Function> kTranscendental = {
    {"ExpBackward0", tend::exp, &Tensor::exp_},
    {"Exp2Backward0", tend::exp2, &Tensor::exp2_},
    {"Expm1Backward0", tend::expm1, &Tensor::expm1_},
    {"LogBackward0", tend::log, &Tensor::log_},
    {"Log2Backward0", tend::log2, &Tensor::log2_},
    {"Log10Backward0", tend::log10, &Tensor::log10_},
    {"Log1PBackward0", tend::log1p, &Tensor::log1p_},
    {"SqrtBackward0", tend::sqrt, &Tensor::sqrt_},
    {"RsqrtBackward0", tend::rsqrt, &Tensor::rsqrt_},
    {"SinBackward0", tend::sin, &Tensor::sin_},
    {"CosBackward0", tend::cos, &Tensor::cos_},
    {"TanBackward0", tend::tan, &Tensor::tan_},
    {"AsinBackward0", tend::asin, &Tensor::asin_},
    {"AcosBackward0", tend::acos, &Tensor::acos_},
    {"AtanBackward0", tend::atan, &Tensor::atan_},
    {"SinhBackward0", tend::sinh, &Tensor::sinh_},
    {"CoshBackward0", tend::cosh, &Tensor::cosh_},
    {"TanhBackward0", tend::tanh, &Tensor::tanh_},
    {"SigmoidBackward0", tend::sigmoid, &Tensor::sigmoid_},
    {"ErfBackward0", tend::erf, &Tensor::erf_},
    {"ErfcBackward0", tend::erfc, &Tensor::erfc_},
    {"ReciprocalBackward0", tend::reciprocal, &Tensor::reciprocal_},
};

const std::vector<Function> kRounding = {
    {"FloorBackward0", tend::floor, &Tensor::floor_},
    {"CeilBackward0", tend::ceil, &Tensor::ceil_},
    {"RoundBackward0", tend::round, &Tensor::round_},
    {"TruncBackward0", tend::trunc, &Tensor::trunc_},
};

std::vector<Function> all_functions() {
  std::vector<Function> all = kTranscendental;
  all.insert(all.end(), kRounding.begin(), kRounding.end());
  all.push_back({"PowBackward0", tend::square, &Tensor::square_});
  all.push_back({"NegBackward0", tend::neg, &Tensor::neg_});
  all.push_back({"AbsBackward0", tend::abs, &Tensor::abs_});
  all.push_back({"SignBackward0", tend::sign, &Tensor::sign_});
  all.push_back({"ReluBackward0", tend::relu, &Tensor::relu_});
  return all;
}

}  // namespace

TEST_CASE("functions of one variable carry the names of PyTorch's nodes") {
  const Tensor x = tensor({0.5}).requires_grad_();
  for (const Function& each : all_functions())
    CHECK(each.call(x).grad_fn() == std::string(each.name));
}

TEST_CASE("transcendental functions of integers and bools are float32") {
  for (const Function& each : kTranscendental) {
    INFO(each.name);
    CHECK(each.call(tensor({1, 2})).dtype() == float32);
    CHECK(each.call(tensor({true})).dtype() == float32);
    CHECK(each.call(tensor({1.0}, float64)).dtype() == float64);
    CHECK(each.call(tensor({0, 1})).equal(each.call(tensor({0., 1.}))));
    CHECK(each.call(empty({0, 3})).shape() == Shape{0, 3});
  }
}

TEST_CASE("rounding keeps integers and refuses bools") {
  for (const Function& each : kRounding) {
    INFO(each.name);
    CHECK(each.call(tensor({3, -4})).dtype() == int64);
    CHECK(each.call(tensor({3, -4})).equal(tensor({3, -4})));
    CHECK_THROWS_AS(each.call(tensor({true})), DTypeError);
  }
  CHECK_THROWS_MATCHES(floor(tensor({true})), DTypeError,
                       says("[floor] a bool tensor cannot be rounded"));
  CHECK(same(round(tensor({0.5, 1.5, 2.5, -1.5})), {0, 2, 2, -2}));
  CHECK(same(trunc(tensor({1.7, -1.7})), {1, -1}));
}

TEST_CASE("rounding has the gradient zero, not none") {
  for (const Function& each : kRounding) CHECK(same(slope(each.call, tensor({1.5, -0.2})), {0, 0}));
}

TEST_CASE("slopes at the edge of a domain are those of PyTorch") {
  CHECK(same(slope(tend::sqrt, tensor({0., -1., kInf})), {kInf, kNaN, 0}));
  CHECK(same(slope(tend::rsqrt, tensor({0., -1., kInf})), {-kInf, kNaN, 0}));
  CHECK(same(slope(tend::log, tensor({0., -1., kInf})), {kInf, -1, 0}));
  CHECK(same(slope(tend::reciprocal, tensor({0., 2.})), {-kInf, -0.25}));
  CHECK(same(slope(tend::log2, tensor({0., kInf})), {kInf, 0}));
  CHECK(same(slope(tend::log10, tensor({0., kInf})), {kInf, 0}));
  CHECK(same(slope(tend::asin, tensor({-1., 0., 1., 2.})), {kInf, 1, kInf, kNaN}));
  CHECK(same(slope(tend::acos, tensor({-1., 0., 1., 2.})), {-kInf, -1, -kInf, kNaN}));
  CHECK(same(slope(tend::atan, tensor({-kInf, 0., kInf})), {0, 1, 0}));
  CHECK(same(slope(tend::cosh, tensor({-kInf, 0., kInf})), {-kInf, 0, kInf}));
  CHECK(same(slope(tend::exp2, tensor({-kInf, 200., kNaN})), {0, kInf, kNaN}));
  CHECK(same(slope(tend::erfc, tensor({-kInf, 30., kNaN})), {0, 0, kNaN}));
  CHECK(same(slope(tend::tanh, tensor({-kInf, 0., kInf})), {0, 1, 0}));
  CHECK(same(slope(tend::sigmoid, tensor({-1000., 0., 1000.})), {0, 0.25, 0}));
  CHECK(same(slope(tend::erf, tensor({-kInf, kInf, kNaN})), {0, 0, kNaN}));
}

TEST_CASE("each function in place has the elements and the gradient of the function") {
  for (const Function& each : all_functions()) {
    INFO(each.name);
    const Tensor x = tensor({{0.25, 0.5}, {0.125, 0.375}});
    Tensor written = x.clone();
    (written.*each.in_place)();
    CHECK(written.equal(each.call(x)));
    CHECK(written.version() == 1);
    const auto in_place = [&](const Tensor& leaf) {
      Tensor copy = leaf * 2;
      (copy.*each.in_place)();
      return copy;
    };
    CHECK(slope(in_place, x)
              .equal(slope([&](const Tensor& leaf) { return each.call(leaf * 2); }, x)));
  }
}

TEST_CASE("a function that gives floats does not fit in place of integers") {
  const Tensor x = tensor({1, 2});
  CHECK_THROWS_MATCHES(x.exp_(), DTypeError,
                       says("[exp_] the result is float32, which does not fit in place of int64"));
  CHECK(x.equal(tensor({1, 2})));
  CHECK(x.version() == 0);
  x.square_().floor_();
  CHECK(x.equal(tensor({1, 4})));
}

TEST_CASE("a saved result that is written in place is noticed by backward") {
  const Tensor x = tensor({1., 2.}).requires_grad_();
  const Tensor y = exp(x);
  y.mul_(2);
  CHECK_THROWS_MATCHES(y.sum().backward(), AutogradError,
                       says("[exp] a tensor of shape (2,) that it saved for backward was "
                            "changed since by [mul_]: it is at version 1, version 0 was saved"));
  // sin keeps its input, not its result.
  const Tensor z = sin(x);
  z.mul_(2);
  CHECK_NOTHROW(z.sum().backward());
}

TEST_CASE("a function in place through a view reaches the base and its gradient") {
  Tensor leaf = tensor({{1., 2.}, {3., 4.}}).requires_grad_();
  const Tensor base = leaf * 1;
  const Tensor row = base[1];
  row.square_();
  CHECK(same(base, {1, 2, 9, 16}));
  (base * tensor({{1., 1.}, {1., 10.}})).sum().backward();
  CHECK(same(leaf.grad(), {1, 1, 6, 80}));
}

TEST_CASE("functions of two variables carry the names of PyTorch's nodes") {
  const Tensor x = tensor({0.5}).requires_grad_();
  const auto name = [](const Tensor& t) { return std::string(t.grad_fn()); };
  CHECK(name(atan2(x, x)) == "Atan2Backward0");
  CHECK(name(logaddexp(x, x)) == "LogaddexpBackward0");
  CHECK(name(xlogy(x, x)) == "XlogyBackward0");
  CHECK(name(xlogy(2, x)) == "XlogyBackward1");
  CHECK(name(xlogy(x, 2)) == "XlogyBackward2");
}

TEST_CASE("atan2 knows the quadrant, and has no slope at the origin") {
  const Tensor y = tensor({0., 0., -0., 1., -1.}), x = tensor({0., -1., -1., 0., -1.});
  constexpr double kPi = 3.14159265358979;
  CHECK_THAT(values(atan2(y, x)), near({0, kPi, -kPi, kPi / 2, -3 * kPi / 4}));
  const std::vector<Tensor> gradients = slopes(tend::atan2, y, x);
  CHECK(same(gradients[0], {kNaN, -1, -1, 0, -0.5}));
  CHECK(same(gradients[1], {kNaN, 0, 0, -1, 0.5}));
}

TEST_CASE("logaddexp of large numbers is finite, and so are both its derivatives") {
  const Tensor a = tensor({1000., 0., kInf}), b = tensor({-1000., 0., 1.});
  CHECK(same(logaddexp(a, b) - tensor({1000., 0., 0.}), {0, std::log(2.0F), kInf}));
  const std::vector<Tensor> gradients = slopes(tend::logaddexp, a, b);
  CHECK(same(gradients[0], {1, 0.5, 1}));
  CHECK(same(gradients[1], {0, 0.5, 0}));
  const Tensor x = a.detach().requires_grad_();
  const Tensor once = autograd::grad({logaddexp(x, b).sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(same(autograd::grad({once.sum()}, {x})[0], {0, 0.25, 0}));
}

TEST_CASE("xlogy is zero at zero, and so is its first slope where the logarithm is not finite") {
  const Tensor x = tensor({0., 0., 0., 0., 2.}), y = tensor({0., -1., 1., kNaN, 0.});
  CHECK(same(xlogy(x, y), {0, 0, 0, kNaN, -kInf}));
  const std::vector<Tensor> gradients = slopes([](auto& a, auto& b) { return xlogy(a, b); }, x, y);
  CHECK(same(gradients[0], {0, 0, 0, kNaN, -kInf}));
  CHECK(same(gradients[1], {kNaN, 0, 0, kNaN, kInf}));  // 0 / 0, as in PyTorch
}

TEST_CASE("the slopes of asin and acos have precise slopes near 0, and infinite ones at the ends") {
  const Tensor x = tensor({0., 1e-6, 0.5, 1., -1., 2.}).requires_grad_();
  for (const double sign : {1., -1.}) {
    const Tensor y = sign > 0 ? asin(x) : acos(x);
    const Tensor once = autograd::grad({y.sum()}, {x}, {}, {.create_graph = true})[0];
    const Tensor twice = autograd::grad({once.sum()}, {x})[0] * sign;
    CHECK(same(twice[{Slice{3, {}}}], {kInf, -kInf, kNaN}));
    CHECK_THAT(values(twice[{Slice{0, 3}}]), near({0, 1e-6, 0.76980036}));
  }
}

TEST_CASE("an exponent may be bool, also for the derivative") {
  const Tensor x = tensor({2.0, 3.0}, {.requires_grad = true});
  const Tensor y = pow(x, tensor({true, false}));
  CHECK(equal(y, tensor({2.0, 1.0})));
  y.sum().backward();
  CHECK(equal(x.grad(), tensor({1.0, 0.0})));
}

TEST_CASE("the gradient of xlogy is zero where nothing comes back, whatever the logarithm is") {
  const Tensor x = ones({2}).requires_grad_(), y = tensor({0., 2.});
  where(y > 0, xlogy(x, y), 0).sum().backward();
  CHECK(values(x.grad())[0] == 0);
  CHECK(values(x.grad())[1] == Approx(0.6931471824645996));  // PyTorch's
}
