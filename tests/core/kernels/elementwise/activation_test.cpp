#include <tend/core/kernels/elementwise/activation.h>

#include <cmath>
#include <limits>

#include "tests/core/kernels.h"
#include "tests/numbers.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::Message;

namespace {

struct Activation {
  std::string name;
  std::function<void(const Array&, const Array&)> kernel;
  long double (*exact)(long double);
  std::vector<double> at_the_ends;  // of NaN, inf, -inf
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> all{
      {"leaky_relu",
       [](const Array& out, const Array& x) { kernels::leaky_relu(out, x, 0.25); },
       [](long double x) { return x > 0 ? x : x / 4; },
       {kNaN, kInf, -kInf}},
      {"elu",
       [](const Array& out, const Array& x) { kernels::elu(out, x, 1.5); },
       [](long double x) { return x > 0 ? x : 1.5L * expm1l(x); },
       {kNaN, kInf, -1.5}},
      {"softplus",
       [](const Array& out, const Array& x) { kernels::softplus(out, x, 2, 1e6); },
       [](long double x) { return x > 100 ? x : log1pl(expl(2 * x)) / 2; },
       {kNaN, kInf, 0}},
      {"logsigmoid",
       kernels::logsigmoid,
       [](long double x) { return x < -100 ? x : -log1pl(expl(-x)); },
       {kNaN, 0, -kInf}},
      {"mish",
       kernels::mish,
       [](long double x) { return x > 100 ? x : x * tanhl(log1pl(expl(x))); },
       {kNaN, kInf, kNaN}},  // -inf 0, as in PyTorch
  };
  return all;
}

std::vector<double> applied(const Activation& f, const Array& x) {
  const Array out = Array::empty(x.shape(), x.dtype());
  f.kernel(out, x);
  return out.to(float64).to_vector<double>();
}

}  // namespace

TEMPLATE_TEST_CASE("activations are what their formulas say, however large their argument",
                   "[kernels]", float, double) {
  using T = TestType;
  const Array x = Array::empty({4000}, dtype_of<T>());
  const Array unit = random_array(x.shape(), float64);
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.data<T>()[i] =
        static_cast<T>(std::ldexp(unit.data<double>()[i], static_cast<int>(i % 40) - 20));
  for (const Activation& f : activations()) {
    const std::vector<double> got = applied(f, x);
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double v = x.data<T>()[i], want = static_cast<double>(f.exact(v));
      INFO(f.name << " of " << v << ": " << got[static_cast<std::size_t>(i)] << ", not " << want);
      // Four roundings; the exponential adds those of its argument, up to 100 below its underflow.
      const double eps = std::numeric_limits<T>::epsilon();
      const double allowed =
          4 * eps * std::abs(want) * std::max(1.0, std::min(std::abs(v), 100.0)) +
          100 * std::numeric_limits<T>::denorm_min();
      REQUIRE(std::abs(got[static_cast<std::size_t>(i)] - want) <= allowed);
    }
  }
}

TEMPLATE_TEST_CASE("activations take every layout, and NaN and infinities", "[kernels]", float,
                   double) {
  const Array ends = array_of<double>({kNaN, kInf, -kInf}).to(dtype_of<TestType>());
  for (const Activation& f : activations()) {
    INFO(f.name);
    const Array x = random_array({3, 5, 7}, dtype_of<TestType>());
    const Array expected = Array::empty(x.shape(), x.dtype());
    f.kernel(expected, x);
    check_in_every_layout(expected, f.kernel, x);
    const std::vector<double> got = applied(f, ends);
    for (std::size_t i = 0; i < 3; ++i) {
      const double want = f.at_the_ends[i];
      CHECK((std::isnan(want) ? std::isnan(got[i]) : got[i] == want));
    }
  }
}

TEST_CASE("softplus is its argument above the threshold", "[kernels]") {
  const Array x = array_of<double>({0.75, 0.5, 0.25});
  kernels::softplus(x, x, 2, 1);
  CHECK(x.data<double>()[0] == 0.75);
  CHECK(x.data<double>()[1] > 0.6);
}

TEST_CASE("activations name the dtypes that they do not take", "[kernels]") {
  const Array integer = array_of<std::int64_t>({1});
  for (const Activation& f : activations()) {
    CHECK_THROWS_MATCHES(f.kernel(integer, integer), DTypeError,
                         Message("[" + f.name + "] needs float32 or float64, got int64"));
  }
}
