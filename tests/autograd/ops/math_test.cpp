#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("slopes at the edge of a domain are PyTorch's") {
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

TEST_CASE("atan2 respects the quadrant and has slope NaN at the origin") {
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

TEST_CASE("xlogy and its slope in x are zero at x = 0 even if log(y) is not finite") {
  const Tensor x = tensor({0., 0., 0., 0., 2.}), y = tensor({0., -1., 1., kNaN, 0.});
  CHECK(same(xlogy(x, y), {0, 0, 0, kNaN, -kInf}));
  const std::vector<Tensor> gradients = slopes([](auto& a, auto& b) { return xlogy(a, b); }, x, y);
  CHECK(same(gradients[0], {0, 0, 0, kNaN, -kInf}));
  CHECK(same(gradients[1], {kNaN, 0, 0, kNaN, kInf}));  // 0 / 0, as in PyTorch
}
