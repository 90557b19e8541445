#include <cmath>
#include <limits>

#include "tests/nn/fixtures.h"
#include "tests/nn/optim/torch_runs.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Tensor with_gradient(const Tensor& gradient) {
  Tensor x = zeros_like(gradient).requires_grad_();
  x.set_grad(gradient);
  return x;
}

}  // namespace

TEST_CASE("clip_grad_norm_ scales all gradients by one factor, as PyTorch's") {
  const auto& cases = torch_nn().at("clipping");
  REQUIRE(cases.size() == 3);
  for (const auto& expected : cases) {
    Tensor a = tensor({3.0, -4.0}).requires_grad_();
    Tensor b = tensor({{12.0}}).requires_grad_();
    a.set_grad(a.detach().clone());
    b.set_grad(b.detach().clone());
    const Tensor no_gradient = ones({3}).requires_grad_();
    const double norm =
        nn::clip_grad_norm_({a, no_gradient, b}, expected["max_norm"].get<double>());
    CHECK(norm == Approx(expected["norm"].get<double>()).epsilon(1e-7));
    check_close(a.grad(), expected["a"], 1e-6);
    check_close(b.grad(), expected["b"], 1e-6);
  }
}

TEST_CASE("clip_grad_norm_ refuses a gradient with shared elements before it scales any") {
  Tensor a = ones({2}).requires_grad_(), b = ones({3}).requires_grad_();
  a.set_grad(full({2}, 5.0));
  b.set_grad(full({1}, 4.0).expand({3}));
  CHECK_THROWS_WITH(nn::clip_grad_norm_({a, b}, 1.0),
                    "[clip_grad_norm_] cannot write in place if two indices may share an element: "
                    "shape (3,), strides (0,); use a clone");
  CHECK(equal(a.grad(), full({2}, 5.0)));
  CHECK(equal(b.grad(), full({3}, 4.0)));
}

TEST_CASE("clip_grad_norm_ clips to PyTorch's norms of every order for mixed dtypes") {
  int runs = 0;
  for (const auto& run : test::torch_optimizers()["clipping"]) {
    INFO(run["order"] << " " << run["max_norm"]);
    ++runs;
    const double order = std::stod(run["order"].get<std::string>());
    const Tensor a = with_gradient(tensor({3.0, -4.0, 0.5}));
    const Tensor b = with_gradient(tensor({{1.5, -0.25}, {0.125, 2.0}}, float64));
    const double norm =
        nn::clip_grad_norm_({a, b}, run["max_norm"].get<double>(), {.norm_type = order});
    // PyTorch computes norms of norms in float32.
    CHECK(norm == Approx(run["norm"].get<double>()).epsilon(1e-6));
    const Tensor both = cat({a.grad().to(float64), b.grad().flatten()}, 0);
    check_close(both, run["values"], 3e-6);
  }
  CHECK(runs == 16);
}

TEST_CASE("clip_grad_norm_ refuses a norm that is not finite on request") {
  const Tensor a = with_gradient(tensor({1.0, kInfinity})), b = with_gradient(ones({2}));
  const auto clip = [&](double order, bool refuses) {
    return nn::clip_grad_norm_({a, b}, 1, {.norm_type = order, .error_if_nonfinite = refuses});
  };
  CHECK_THROWS_WITH(clip(3, true), "[clip_grad_norm_] the norm of order 3 is inf, not finite");
  CHECK_THROWS_WITH(nn::clip_grad_norm_({a}, 1, {.norm_type = kNotANumber}),
                    "[clip_grad_norm_] norm_type is nan");
  CHECK_THROWS_AS(nn::clip_grad_norm_({a}, -1), Error);
  CHECK(equal(b.grad(), ones({2})));
  CHECK(clip(-kInfinity, true) == 1);
  CHECK(clip(kInfinity, false) == kInfinity);
  CHECK(equal(b.grad(), zeros({2})));
  CHECK(std::isnan(a.grad()[1].item()));
}

TEST_CASE("the norm of no gradients is zero and empty gradients add nothing") {
  const Tensor none = zeros({2}).requires_grad_();
  for (const double order : {2.0, kInfinity, -1.0, 0.0}) {
    CHECK(nn::clip_grad_norm_({none}, 1, {.norm_type = order}) == 0);
    const Tensor empty = with_gradient(zeros({0})), one = with_gradient(tensor({1.0}));
    CHECK(nn::clip_grad_norm_({none, empty, one}, 2, {.norm_type = order}) == 1);
  }
}

TEST_CASE("clip_grad_value_ clips every element and leaves NaN") {
  const Tensor a = with_gradient(tensor({3.0, -4.0, 0.5, kNotANumber, -kInfinity}));
  const Tensor b = with_gradient(tensor({{-0.25, 0.75}, {0.0, 9.0}}, float64).t());
  nn::clip_grad_value_({a, zeros({1}).requires_grad_(), b}, 0.5);
  CHECK(equal(a.grad().slice(0, 0, 3), tensor({0.5, -0.5, 0.5})));
  CHECK(std::isnan(a.grad()[3].item()));
  CHECK(a.grad()[4].item() == -0.5);
  CHECK(equal(b.grad(), tensor({{-0.25, 0.0}, {0.5, 0.5}}, float64)));
  CHECK_THROWS_WITH(nn::clip_grad_value_({a}, -0.5),
                    "[clip_grad_value_] clip_value must not be negative, got -0.5");
  CHECK_THROWS_AS(nn::clip_grad_value_({a}, kNotANumber), Error);
  const Tensor c = with_gradient(full({1}, 4.0).expand({3}));
  CHECK_THROWS_WITH(nn::clip_grad_value_({b, c}, 0.125),
                    ContainsSubstring("two indices may share an element"));
  CHECK(b.grad()[1][1].item<double>() == 0.5);
}
