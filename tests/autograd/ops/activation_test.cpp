#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

// The gradient of sum(f(x) * cotangent), by the fused backward or by the recorded formula.
template <class F>
Tensor pulled_back(F f, const Tensor& x, const Tensor& cotangent, bool create_graph) {
  Tensor leaf = x.detach().requires_grad_();
  autograd::GradOptions options;
  options.create_graph = create_graph;
  return autograd::grad({f(leaf)}, {leaf}, {cotangent}, options)[0];
}

// The rounding errors of ten operations on numbers of size 1.
constexpr double kNoise = 10 * std::numeric_limits<float>::epsilon();

template <class F>
void check_fused(F f, DType dtype) {
  manual_seed(3);
  const Tensor wide = randn({4, 33, 5}, dtype);
  const Tensor cotangent = randn({4, 33, 5}, dtype);
  const double tolerance = dtype == float32 ? kNoise : 1e-14;
  for (const auto& [x, v] :
       {std::pair{wide, cotangent}, {wide.transpose(0, 2), cotangent.transpose(0, 2)}}) {
    const Tensor fused = pulled_back(f, x, v, false);
    const Tensor composed = pulled_back(f, x, v, true);
    CHECK(composed.requires_grad());
    CHECK_FALSE(fused.requires_grad());
    CHECK(allclose(fused, composed.detach(), tolerance, tolerance));
  }
}

}  // namespace

TEST_CASE("the slope of relu is zero at zero, and NaN passes") {
  const Tensor x = tensor({-1., 0., 2., kNaN, kInf});
  CHECK(same(relu(x), {0, 0, 2, kNaN, kInf}));
  CHECK(same(slope(tend::relu, x), {0, 0, 1, 1, 1}));
  // A closed gate stops NaN and infinity.
  CHECK(same(slope([](auto& leaf) { return relu(leaf) * kInf; }, tensor({-1., 1.})), {0, kInf}));
  CHECK(relu(tensor({-1, 2})).equal(tensor({0, 2})));
  CHECK_THROWS_AS(relu(tensor({true})), DTypeError);
}

TEST_CASE("the fused backward kernels mean the composed formulas") {
  for (const DType dtype : {float32, float64}) {
    check_fused([](auto& x) { return silu(x); }, dtype);
    check_fused([](auto& x) { return gelu(x); }, dtype);
    check_fused([](auto& x) { return gelu(x, GeluKind::tanh); }, dtype);
    for (const int d : {0, 1, -1}) {
      check_fused([d](auto& x) { return softmax(x, d); }, dtype);
      check_fused([d](auto& x) { return log_softmax(x, d); }, dtype);
    }
  }
}

TEST_CASE("fused derivatives have the branches of the composed formulas, in every layout") {
  for (const auto& [dtype, transposed] :
       {std::pair{float32, false}, {float32, true}, {float64, false}, {float64, true}}) {
    const Tensor line = tensor({-kInf, -7., -3., -1.5, -1., -0.5, -0., 0., 0.2, 0.5, 0.8, 1., 3.,
                                6., 7., kInf, kNaN})
                            .to(dtype);
    const Tensor x = transposed ? stack({line, line}, 1).t().contiguous().t() : line;
    const Tensor cotangent = full_like(x, 1.5);
    const double tolerance = dtype == float32 ? kNoise : 1e-14;
    const auto check = [&](const char* name, auto f) {
      INFO(name << ' ' << x.dtype());
      const Tensor fused = pulled_back(f, x, cotangent, false);
      const Tensor composed = pulled_back(f, x, cotangent, true).detach();
      INFO(to_string(fused) << " and " << to_string(composed));
      CHECK(allclose(fused, composed, tolerance, tolerance, true));
    };
    // Piecewise linear functions have one kernel for both; their formulas are these.
    const auto check_pieces = [&](const char* name, auto f, const Tensor& expected) {
      INFO(name << ' ' << x.dtype());
      const Tensor fused = pulled_back(f, x, cotangent, false);
      CHECK(allclose(fused, expected, tolerance, tolerance, true));
    };
    check_pieces(
        "relu", [](auto& a) { return relu(a); }, masked_fill(cotangent, x <= 0, 0));
    check_pieces(
        "leaky_relu", [](auto& a) { return leaky_relu(a, -0.2); },
        where(x > 0, cotangent, cotangent * -0.2));
    check_pieces(
        "hardtanh", [](auto& a) { return hardtanh(a, -3, 7); },
        masked_fill(cotangent, logical_or(x <= -3, x >= 7), 0));
    check_pieces(
        "hardsigmoid", [](auto& a) { return hardsigmoid(a); }, where(abs(x) < 3, cotangent / 6, 0));
    check("elu", [](auto& a) { return elu(a, 1.5); });
    check("selu", [](auto& a) { return selu(a); });
    check("celu", [](auto& a) { return celu(a, 2.5); });
    check("hardswish", [](auto& a) { return hardswish(a); });
    check("mish", [](auto& a) { return mish(a); });
    check("softplus", [](auto& a) { return softplus(a, 2, 6); });
    check("logsigmoid", [](auto& a) { return logsigmoid(a); });
    check("logit", [](auto& a) { return logit(a); });
    check("logit within bounds", [](auto& a) { return logit(a, 0.2); });
    check("nan_to_num", [](auto& a) { return nan_to_num(a); });
    check("clamp", [](auto& a) { return clamp(a, -3, 7); });
    check("clamp_min", [](auto& a) { return clamp_min(a, -3); });
    check("clamp_max", [](auto& a) { return clamp_max(a, 3); });
    check("glu", [](auto& a) { return glu(cat({a, flip(a, {0})}), 0); });
    for (const double other : {0., 1.5, kNaN}) {
      const Tensor y = full_like(x, other);
      const auto check_loss = [&](const char* name, auto f) {
        check(name, [&](auto& a) { return f(a, y); });
        check(name, [&](auto& a) { return f(y, a); });
      };
      check_loss("mse", [](auto& a, auto& b) { return mse_loss(a, b, Reduction::none); });
      check_loss("l1", [](auto& a, auto& b) { return l1_loss(a, b, Reduction::none); });
      check_loss("huber", [](auto& a, auto& b) { return huber_loss(a, b, Reduction::none, 1.5); });
      check_loss("smooth_l1",
                 [](auto& a, auto& b) { return smooth_l1_loss(a, b, Reduction::none, 1.5); });
      check_loss("logits", [](auto& a, auto& b) {
        return binary_cross_entropy_with_logits(a, b, Reduction::none);
      });
    }
  }
}

TEST_CASE("gelu has two kinds") {
  const Tensor x = tensor({-1., 0., 3.}, float64);
  // x Phi(x) by math.erf, and the formula of tanh, both in Python.
  CHECK_THAT(values(gelu(x)), near({-0.15865525393145707, 0, 2.99595030590511}));
  CHECK_THAT(values(gelu(x, GeluKind::tanh)), near({-0.15880800939172324, 0, 2.996362607918227}));
  CHECK(same(slope([](auto& leaf) { return gelu(leaf); }, tensor({0.})), {0.5}));
  CHECK(gelu(ones({1}).requires_grad_()).grad_fn() == std::string("GeluBackward0"));
}

TEST_CASE("softmax takes floats only and checks its dimension") {
  CHECK_THROWS_MATCHES(softmax(tensor({1, 2}), 0), DTypeError,
                       says("[softmax] needs float32 or float64, got int64"));
  CHECK_THROWS_AS(log_softmax(tensor({true}), 0), DTypeError);
  CHECK_THROWS_AS(gelu(tensor({1})), DTypeError);
  CHECK_THROWS_AS(softmax(zeros({2, 3}), 2), IndexError);
  CHECK_THROWS_AS(log_softmax(zeros({2, 3}), -3), IndexError);
  CHECK(softmax(zeros({0, 3}), 1).shape() == Shape{0, 3});
  CHECK(softmax(zeros({3, 0}), 1).shape() == Shape{3, 0});
}

TEST_CASE("softmax of a 0-d tensor is one, with gradient zero") {
  for (const int d : {0, -1}) {
    CHECK(softmax(tensor(3.), d).item() == 1);
    CHECK(log_softmax(tensor(3.), d).item() == 0);
    CHECK(slope([d](auto& x) { return softmax(x, d) * 2; }, tensor(3.)).item() == 0);
    CHECK(
        pulled_back([d](auto& x) { return softmax(x, d); }, tensor(3.), tensor(2.), true).item() ==
        0);
  }
}

TEST_CASE("a row of nothing but -inf has the softmax NaN, other rows are not touched") {
  const Tensor x = tensor({{-kInf, -kInf}, {0., -kInf}});
  CHECK(same(softmax(x, 1), {kNaN, kNaN, 1, 0}));
  CHECK(same(log_softmax(x, 1), {kNaN, kNaN, 0, -kInf}));
  const auto weighed = [](auto& leaf) { return softmax(leaf, 1) * tensor({1., 2.}); };
  CHECK(same(slope(weighed, x), {kNaN, kNaN, 0, 0}));
}

TEST_CASE("softmax and log_softmax of large numbers stay finite") {
  const Tensor x = tensor({1000., 0., -1000.});
  CHECK(same(softmax(x, 0), {1, 0, 0}));
  CHECK(same(log_softmax(x, 0), {0, -1000, -2000}));
  CHECK(same(slope([](auto& leaf) { return log_softmax(leaf, 0); }, tensor({1000., 0.})), {-1, 1}));
}

TEST_CASE("activations carry the names of PyTorch's nodes") {
  const Tensor x = ones({2}).requires_grad_();
  CHECK(softmax(x, 0).grad_fn() == std::string("SoftmaxBackward0"));
  CHECK(log_softmax(x, 0).grad_fn() == std::string("LogSoftmaxBackward0"));
  CHECK(leaky_relu(x).grad_fn() == std::string("LeakyReluBackward0"));
  CHECK(elu(x).grad_fn() == std::string("EluBackward0"));
  CHECK(hardtanh(x).grad_fn() == std::string("HardtanhBackward0"));
  CHECK(silu(x).grad_fn() == std::string("SiluBackward0"));
  CHECK(mish(x).grad_fn() == std::string("MishBackward0"));
  CHECK(softplus(x).grad_fn() == std::string("SoftplusBackward0"));
  CHECK(logsigmoid(x).grad_fn() == std::string("LogSigmoidBackward0"));
  CHECK(glu(x).grad_fn() == std::string("GluBackward0"));
}

TEST_CASE("activations of large numbers, and both their derivatives, are finite") {
  const Tensor far = tensor({-1000., 1000.});
  const auto check = [&](Tensor (*f)(const Tensor&), const std::vector<double>& expected,
                         const std::vector<double>& slopes) {
    CHECK(same(f(far), expected));
    CHECK(same(slope(f, far), slopes));
    const Tensor x = far.detach().requires_grad_();
    const Tensor once = autograd::grad({f(x).sum()}, {x}, {}, {.create_graph = true})[0];
    CHECK(same(once, slopes));
    // The second derivative is 0: x times it would show anything else.
    CHECK(same(autograd::grad({(once * x).sum()}, {x})[0], slopes));
  };
  check([](auto& x) { return leaky_relu(x, 0.5); }, {-500, 1000}, {0.5, 1});
  check([](auto& x) { return elu(x); }, {-1, 1000}, {0, 1});
  check([](auto& x) { return hardtanh(x); }, {-1, 1}, {0, 0});
  check(silu, {0, 1000}, {0, 1});
  check(mish, {0, 1000}, {0, 1});
  check([](auto& x) { return softplus(x); }, {0, 1000}, {0, 1});
  check(logsigmoid, {-1000, 0}, {1, 0});
}

TEST_CASE("slopes of rectifiers at their kinks are PyTorch's") {
  const Tensor x = tensor({-1., 0., 1., kNaN});
  CHECK(same(slope([](auto& leaf) { return leaky_relu(leaf, 0.5); }, x), {0.5, 0.5, 1, 0.5}));
  CHECK(same(slope([](auto& leaf) { return elu(leaf, 2); }, tensor({0., kNaN})), {2, 1}));
  CHECK(same(slope([](auto& leaf) { return hardtanh(leaf); }, x), {0, 1, 0, 1}));
  CHECK(same(hardtanh(x, 0.5, 0.5), {0.5, 0.5, 0.5, kNaN}));
  CHECK(hardtanh(tensor({-3, 3}), -1.5, 1.5).equal(tensor({-1, 1})));
  CHECK_THROWS_MATCHES(hardtanh(x, 1, -1), Error,
                       says("[hardtanh] min_val = 1 is larger than max_val = -1"));
}

TEST_CASE("a leaky_relu in place may have a negative slope") {
  // Its derivative keeps the input, which the result could not tell.
  const auto in_place = [](const Tensor& leaf) {
    const Tensor copy = leaf * 1;
    return Tensor(copy.leaky_relu_(-2));
  };
  const Tensor x = tensor({-1., 3.});
  CHECK(same(in_place(x), {2, 3}));
  CHECK(same(slope(in_place, x), {-2, 1}));
}

TEST_CASE("the gradient of straight pieces has a graph, through which the second derivative is 0") {
  using Function = Tensor (*)(const Tensor&);
  for (const Function f : {Function([](const Tensor& x) { return relu(x); }),
                           Function([](const Tensor& x) { return leaky_relu(x); }),
                           Function([](const Tensor& x) { return hardtanh(x); }),
                           Function([](const Tensor& x) { return relu6(x); }),
                           Function([](const Tensor& x) { return hardsigmoid(x); })}) {
    const Tensor x = tensor({-4.0, -0.5, 0.5, 8.0}, float64).requires_grad_();
    const Tensor v = tensor({2.0, 4.0, 8.0, 16.0}, float64).requires_grad_();
    const Tensor once = autograd::grad({f(x)}, {x}, {v}, {.create_graph = true})[0];
    const std::vector<Tensor> twice =
        autograd::grad({once.sum()}, {x, v}, {}, {.retain_graph = true});
    CHECK(twice[0].to_vector<double>() == std::vector<double>(4, 0));
    // It is linear in v.
    CHECK((twice[1] * v).to_vector<double>() == once.to_vector<double>());
    const Tensor constant = autograd::grad({f(x).sum()}, {x}, {}, {.create_graph = true})[0];
    CHECK(constant.requires_grad());
  }
}

TEST_CASE("softplus is linear above its threshold") {
  const auto f = [](const Tensor& leaf) { return softplus(leaf, 2, 3); };
  CHECK(same(f(tensor({1.75, 2.})), {1.75, 2}));
  CHECK(same(slope(f, tensor({1.75, 0.})), {1, 0.5}));
}

TEST_CASE("glu is half as large along its dimension") {
  const Tensor x = tensor({{1., 2.}, {0., -1000.}});
  CHECK(same(glu(x, 0), {0.5, 0}));
  CHECK(same(slope([](auto& leaf) { return glu(leaf, 0); }, x), {0.5, 0, 0.25, 0}));
  CHECK_THROWS_AS(glu(x, 2), IndexError);
}

TEST_CASE("the gradient of glu is finite where the gate's slope is zero") {
  const float huge = 1e38F;  // ten times which is infinite
  for (const bool create_graph : {false, true}) {
    const Tensor x = tensor({huge, 100.F}).requires_grad_();
    glu(x).backward(tensor({10.F}), create_graph, create_graph);
    CHECK(same(x.grad().detach(), {10, 0}));
  }
}

TEST_CASE("hardtanh refuses bounds that int64 cannot hold") {
  const Tensor x = tensor({-3, 0, 3});
  CHECK(same(hardtanh(x, -1.5, 2.), {-1, 0, 2}));
  for (const double bound : {1e30, kInf, kNaN}) {
    CHECK_THROWS_MATCHES(hardtanh(x, 0, bound), DTypeError,
                         says(as_text("[hardtanh] int64 cannot hold the value ", bound)));
    CHECK_THROWS_AS(x.hardtanh_(-bound, 0), DTypeError);
  }
  CHECK(same(x, {-3, 0, 3}));
  CHECK(same(hardtanh(x.to(float32), 0, kInf), {0, 0, 3}));
}

TEST_CASE("The slope of prelu at NaN is the weight, as in PyTorch") {
  const Tensor x = tensor({kNaN, 1.0, -1.0}).requires_grad_();
  prelu(x, tensor({0.25})).sum().backward();
  CHECK(same(x.grad(), {0.25, 1, 0.25}));
}
