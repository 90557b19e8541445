// Anomaly mode reports which operation made the first NaN.
#include <memory>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/tools/function.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("Anomaly mode names the operation and the element where NaN first appeared") {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = leaf({{1, 2}, {-3, 4}});
  const Tensor y = sqrt(x * 2);
  CHECK_THROWS_MATCHES((y + y * 3).sum().backward(), AutogradError,
                       says("[backward] the result has NaN. The first NaN is made by sqrt: "
                            "element (1, 0) of its result, shape (2, 2), no input has NaN"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("Anomaly mode says if an input already had NaN") {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = leaf({1, 2}), bad = tensor({1.0, kNaN}, float64);
  CHECK_THROWS_MATCHES(autograd::grad({(x + bad).exp().sum()}, {x}), AutogradError,
                       says("[backward] the result has NaN. The first NaN is made by add: "
                            "element (1,) of its result, shape (2,), its input 1 has NaN already"));
}

TEST_CASE("Anomaly mode names the derivative that makes NaN from finite values") {
  const Tensor x = leaf({0, 4});
  const autograd::DetectAnomaly anomaly;
  const Tensor y = (sqrt(x) * tensor({0, 1}, float64)).sum();
  CHECK_THROWS_MATCHES(
      y.backward(), AutogradError,
      says("[backward] the first NaN is made by the derivative of sqrt: element (0,) of "
           "the gradient of its input 0, shape (2,)"));
}

TEST_CASE("Anomaly mode checks the derivatives of earlier operations but not their results") {
  const Tensor x = leaf({-1, 4});
  const Tensor y = sqrt(x);
  const autograd::DetectAnomaly anomaly;
  CHECK_THROWS_MATCHES(y.backward(ones({2}, float64)), AutogradError,
                       says("[backward] the first NaN is made by the derivative of sqrt: element "
                            "(0,) of the gradient of its input 0, shape (2,)"));
}

TEST_CASE("NaN that does not reach the result is not an error") {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = leaf({-1, 4});
  nan_to_num(log(x)).sum().backward();
  CHECK(same(x.grad(), {0, 0.25}));
}

TEST_CASE("Anomaly mode ends with its guard and guards can be nested") {
  CHECK_FALSE(autograd::DetectAnomaly::is_on());
  {
    const autograd::DetectAnomaly outer;
    { const autograd::DetectAnomaly inner; }
    CHECK(autograd::DetectAnomaly::is_on());
  }
  CHECK_FALSE(autograd::DetectAnomaly::is_on());
  const Tensor x = leaf({-1.0});
  sqrt(x).backward();
  CHECK(std::isnan(x.grad().item()));
}

TEST_CASE("Anomaly mode finds NaN before a custom function and in a cotangent") {
  struct Both : autograd::Function<Both> {
    static std::vector<Tensor> forward(autograd::FunctionContext&, const Tensor& x) {
      return {x * 2, x * 3};
    }
    static Tensor backward(const autograd::FunctionContext&, const std::vector<Tensor>& grads) {
      return grads[0] * 2 + grads[1] * 3;
    }
  };
  const autograd::DetectAnomaly anomaly;
  const Tensor x = leaf({-1, 1});
  const std::vector<Tensor> out = Both().apply(log(x));
  CHECK_THROWS_MATCHES((out[0] + out[1]).sum().backward(), AutogradError,
                       says("[backward] the result has NaN. The first NaN is made by log: "
                            "element (0,) of its result, shape (2,), no input has NaN"));
  CHECK_THROWS_MATCHES((x * 2).backward(tensor({kNaN, 1.0}, float64)), AutogradError,
                       says("[backward] the gradient that was given for tensor 0 has NaN"));
}
