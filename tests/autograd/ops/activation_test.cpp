#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

// The gradient of sum(f(x) * cotangent). With create_graph it comes from the composed formula,
// otherwise from the fused backward kernel.
template <class F>
Tensor weighted_gradient(F f, const Tensor& x, const Tensor& cotangent, bool create_graph) {
  Tensor leaf = x.detach().requires_grad_();
  autograd::GradOptions options;
  options.create_graph = create_graph;
  return autograd::grad({f(leaf)}, {leaf}, {cotangent}, options)[0];
}

// A bound for the rounding errors of ten operations on numbers of size 1.
constexpr double kNoise = 10 * std::numeric_limits<float>::epsilon();

template <class F>
void check_fused(F f, DType dtype) {
  manual_seed(3);
  const Tensor wide = randn({4, 33, 5}, dtype);
  const Tensor cotangent = randn({4, 33, 5}, dtype);
  const double tolerance = dtype == float32 ? kNoise : 1e-14;
  for (const auto& [x, v] :
       {std::pair{wide, cotangent}, {wide.transpose(0, 2), cotangent.transpose(0, 2)}}) {
    const Tensor fused = weighted_gradient(f, x, v, false);
    const Tensor composed = weighted_gradient(f, x, v, true);
    CHECK(composed.requires_grad());
    CHECK_FALSE(fused.requires_grad());
    CHECK(allclose(fused, composed.detach(), tolerance, tolerance));
  }
}

}  // namespace

TEST_CASE("relu has slope 0 at 0 and passes NaN") {
  const Tensor x = tensor({-1., 0., 2., kNaN, kInf});
  CHECK(same(relu(x), {0, 0, 2, kNaN, kInf}));
  CHECK(same(slope(tend::relu, x), {0, 0, 1, 1, 1}));
  // Where relu has slope 0, a gradient of NaN or infinity becomes 0.
  CHECK(same(slope([](auto& leaf) { return relu(leaf) * kInf; }, tensor({-1., 1.})), {0, kInf}));
  CHECK(relu(tensor({-1, 2})).equal(tensor({0, 2})));
  CHECK_THROWS_AS(relu(tensor({true})), DTypeError);
}

TEST_CASE("fused derivatives equal the composed formulas on every branch and in every layout") {
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
      const Tensor fused = weighted_gradient(f, x, cotangent, false);
      const Tensor composed = weighted_gradient(f, x, cotangent, true).detach();
      INFO(to_string(fused) << " and " << to_string(composed));
      CHECK(allclose(fused, composed, tolerance, tolerance, true));
    };
    // Piecewise linear functions use one kernel with and without create_graph, so their gradients
    // are compared with formulas that are written here.
    const auto check_pieces = [&](const char* name, auto f, const Tensor& expected) {
      INFO(name << ' ' << x.dtype());
      const Tensor fused = weighted_gradient(f, x, cotangent, false);
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

TEST_CASE("softmax of a row of only -inf is NaN and does not affect other rows") {
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

TEST_CASE("rectifiers have PyTorch's slopes at their kinks") {
  const Tensor x = tensor({-1., 0., 1., kNaN});
  CHECK(same(slope([](auto& leaf) { return leaky_relu(leaf, 0.5); }, x), {0.5, 0.5, 1, 0.5}));
  CHECK(same(slope([](auto& leaf) { return elu(leaf, 2); }, tensor({0., kNaN})), {2, 1}));
  CHECK(same(slope([](auto& leaf) { return hardtanh(leaf); }, x), {0, 1, 0, 1}));
  CHECK(same(hardtanh(x, 0.5, 0.5), {0.5, 0.5, 0.5, kNaN}));
  CHECK(hardtanh(tensor({-3, 3}), -1.5, 1.5).equal(tensor({-1, 1})));
  CHECK_THROWS_MATCHES(hardtanh(x, 1, -1), Error,
                       says("[hardtanh] min_val = 1 is larger than max_val = -1"));
}

TEST_CASE("softplus is linear above its threshold") {
  const auto f = [](const Tensor& leaf) { return softplus(leaf, 2, 3); };
  CHECK(same(f(tensor({1.75, 2.})), {1.75, 2}));
  CHECK(same(slope(f, tensor({1.75, 0.})), {1, 0.5}));
}
