#include <tend/core/kernels/elementwise/math.h>

#include <cmath>
#include <numbers>

#include <tend/core/kernels/elementwise/arithmetic.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/ulps.h"
#include "tests/numbers.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

using Unary = void (*)(const Array&, const Array&);
using Exact = long double (*)(long double);

constexpr long double kRootTwoPi = 2.506628274631000502415765284811045253L;

long double normal_mass(long double x) {
  return erfcl(-x / sqrtl(2)) / 2;
}
long double sigmoid(long double x) {
  return 1 / (1 + expl(-x));
}
// The argument of the sigmoid in gelu's tanh approximation, and the derivative of that argument.
long double approximation(long double x) {
  return 4 / kRootTwoPi * (x + 0.044715L * x * x * x);
}
long double approximation_slope(long double x) {
  return 4 / kRootTwoPi * (1 + 3 * 0.044715L * x * x);
}

struct Function {
  std::string name;
  Unary kernel;
  Exact exact;
  double ulps = 0;  // the allowed error, in units in the last place of the result
  double ulps_of_argument = 0;
  double ulps_of_one = 0;
  Exact growth = nullptr;       // a factor of `ulps` that depends on the argument
  bool times_argument = false;  // the function is its argument times a number that may be subnormal
};

void gelu(const Array& out, const Array& x) {
  kernels::gelu(out, x, false);
}
void gelu_tanh(const Array& out, const Array& x) {
  kernels::gelu(out, x, true);
}
void silu_slope(const Array& out, const Array& x) {
  kernels::silu_backward(out, Array::scalar(1, x.dtype()), x);
}
void gelu_slope(const Array& out, const Array& x) {
  kernels::gelu_backward(out, Array::scalar(1, x.dtype()), x, false);
}
void gelu_tanh_slope(const Array& out, const Array& x) {
  kernels::gelu_backward(out, Array::scalar(1, x.dtype()), x, true);
}

// The bounds are stated in math.h.
const std::vector<Function>& functions() {
  static const std::vector<Function> all{
      {"exp", kernels::exp, expl, 1.05},
      {"exp2", kernels::exp2, exp2l, 1.15},
      {"expm1", kernels::expm1, expm1l, 2.25},
      {"exp2m1", kernels::exp2m1,
       [](long double x) { return expm1l(x * std::numbers::ln2_v<long double>); }, 3.7},
      {"log", kernels::log, logl, 0.85},
      {"log2", kernels::log2, log2l, 1.9},
      {"log10", kernels::log10, log10l, 2.0},
      {"log1p", kernels::log1p, log1pl, 1.5},
      {"sqrt", kernels::sqrt, sqrtl, 0.5},
      {"rsqrt", kernels::rsqrt, [](long double x) { return 1 / sqrtl(x); }, 1.5},
      {"reciprocal", kernels::reciprocal, [](long double x) { return 1 / x; }, 0.5},
      {"square", kernels::square, [](long double x) { return x * x; }, 0.5},
      {"cube", kernels::cube, [](long double x) { return x * x * x; }, 1.5},
      {"sin", kernels::sin, sinl, 2.8},
      {"cos", kernels::cos, cosl, 2.75},
      {"tan", kernels::tan, tanl, 4.25},
      {"asin", kernels::asin, asinl, 2.5},
      {"acos", kernels::acos, acosl, 1.3},
      {"atan", kernels::atan, atanl, 2.8},
      {"sinh", kernels::sinh, sinhl, 2.5},
      {"cosh", kernels::cosh, coshl, 1.55},
      {"tanh", kernels::tanh, tanhl, 2.75},
      {"sigmoid", kernels::sigmoid, sigmoid, 2.45},
      {"erf", kernels::erf, erfl, 1.9},
      {"erfc", kernels::erfc, erfcl, 7.5},
      {"floor", kernels::floor, floorl},
      {"ceil", kernels::ceil, ceill},
      {"round", kernels::round, nearbyintl},
      {"trunc", kernels::trunc, truncl},
      {"relu", kernels::relu, [](long double x) { return x <= 0 ? 0 : x; }},
      {.name = "silu",
       .kernel = kernels::silu,
       .exact = [](long double x) { return x * sigmoid(x); },
       .ulps = 3.5,
       .times_argument = true},
      {.name = "silu's derivative",
       .kernel = silu_slope,
       .exact = [](long double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); },
       .ulps_of_one = 2.5},
      {.name = "gelu",
       .kernel = gelu,
       .exact = [](long double x) { return x * normal_mass(x); },
       .ulps_of_argument = 4},
      {.name = "gelu's derivative",
       .kernel = gelu_slope,
       .exact = [](long double x) { return normal_mass(x) + x * expl(-x * x / 2) / kRootTwoPi; },
       .ulps_of_one = 2.5},
      {.name = "gelu, tanh",
       .kernel = gelu_tanh,
       .exact = [](long double x) { return x * sigmoid(approximation(x)); },
       .ulps = 2.75,
       .growth = [](long double x) { return 1 + std::clamp(-approximation(x), 0.0L, 750.0L); },
       .times_argument = true},
      {.name = "gelu's derivative, tanh",
       .kernel = gelu_tanh_slope,
       .exact =
           [](long double x) {
             const long double z = approximation(x);
             const long double second = x * sigmoid(z) * sigmoid(-z) * approximation_slope(x);
             return sigmoid(z) + (std::abs(x) < 100 ? second : 0);
           },
       .ulps_of_one = 2.5},
  };
  return all;
}

template <class T>
long double allowed_error(const Function& f, long double x, long double want) {
  const long double smallest = ulp_of<T>(0);
  long double ulps = f.ulps;
  if (f.growth != nullptr) ulps *= f.growth(x);
  return ulps * ulp_of<T>(want) + f.ulps_of_argument * ulp_of<T>(x) + f.ulps_of_one * ulp_of<T>(1) +
         (f.times_argument ? 3 * std::abs(x) * smallest : 0) +
         smallest / 2;  // for results below the normal numbers
}

// The exact value of an element, and the allowed error.
struct Expected {
  long double value, allowed;
};

template <class T>
std::vector<Expected> expected_values(const Function& f, const Array& a) {
  std::vector<Expected> out;
  out.reserve(static_cast<std::size_t>(a.numel()));
  for (const T x : a.to_vector<T>()) {
    const long double want = f.exact(x);
    out.push_back({want, allowed_error<T>(f, x, want)});
  }
  return out;
}

// The largest error among the elements, as a multiple of the allowed error.
template <class T>
double worst_error(const Array& got, const std::vector<Expected>& expected) {
  double worst = 0;
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const auto [want, allowed] = expected[static_cast<std::size_t>(i)];
    const T value = got.data<T>()[i], rounded = static_cast<T>(want);
    if (std::isnan(want) || std::isinf(rounded) || std::isinf(value)) {
      if (std::isnan(want) ? !std::isnan(value) : value != rounded) return kInf;
      continue;
    }
    const long double error = std::abs(static_cast<long double>(value) - want);
    if (std::isnan(error)) return kInf;
    worst = std::max(worst, static_cast<double>(error / allowed));
  }
  return worst;
}

std::vector<double> applied(Unary kernel, DType dtype, std::initializer_list<double> values) {
  const Array a = array_of<double>(values).to(dtype);
  kernel(a, a);
  return a.to(float64).to_vector<double>();
}

// The arguments with the largest errors, found by a search over all floats of several intervals and
// over millions of doubles.
template <class T>
Array worst_arguments() {
  const std::vector<double> arguments =
      std::is_same_v<T, float>
          ? std::vector<double>{1.5550468f,   29.8293972f,  1.01099598f,   1.01797068f,
                                0.500547051f, 0.501484334f, -0.500879943f, 1.39939773f,
                                1.32865357f,  4.54465246f,  -4.1572938f}
          : std::vector{1.5386657503195709, 0.50774822415317933, 0.42686780480540498,
                        1.4060385813930829};
  return Array::from(std::span(arguments), {std::ssize(arguments)}).to(dtype_of<T>());
}

template <class T>
void check_bounds(const Array& a) {
  for (const Function& f : functions()) {
    const std::vector<Expected> expected = expected_values<T>(f, a);
    for_each_simd_target([&](const std::string& target) {
      INFO(f.name << " on " << target);
      const Array out = Array::empty(a.shape(), a.dtype());
      f.kernel(out, a);
      CHECK(worst_error<T>(out, expected) <= 1);
    });
  }
}

}  // namespace

TEMPLATE_TEST_CASE("functions keep their error bounds on every target", "[kernels][simd]", float,
                   double) {
  using T = TestType;
  check_bounds<T>(std::is_same_v<T, float> ? sampled_floats(32771) : sampled_doubles(50000));
}

TEMPLATE_TEST_CASE("functions keep their error bounds at the arguments with the largest errors",
                   "[kernels][simd]", float, double) {
  check_bounds<TestType>(worst_arguments<TestType>());
}

TEST_CASE("a result does not depend on the position of its element", "[kernels][simd]") {
  const Array a = random_array({100}, float32), whole = Array::empty({100}, float32);
  for_each_simd_target([&](const std::string& target) {
    for (const Function& f : functions()) {
      f.kernel(whole, a);
      for (std::int64_t start = 0; start < 5; ++start) {
        for (std::int64_t length = 1; length < 40; ++length) {
          const Array part = Array::empty({length}, float32);
          f.kernel(part, a.narrow(0, start, length));
          if (same_bits(part, whole.narrow(0, start, length))) continue;
          FAIL(f.name << " on " << target << " from " << start << ", length " << length);
        }
      }
    }
  });
}

TEST_CASE("functions of infinities and zeros and NaN are as in C", "[kernels][simd]") {
  for_each_simd_target([&](const std::string& target) {
    for (const DType dtype : {float32, float64}) {
      const auto of = [&](Unary kernel) {
        return applied(kernel, dtype, {kNaN, kInf, -kInf, 0, -0.0});
      };
      INFO(target << " " << dtype_name(dtype));
      CHECK(identical(of(kernels::exp), {kNaN, kInf, 0, 1, 1}));
      CHECK(identical(of(kernels::log), {kNaN, kInf, kNaN, -kInf, -kInf}));
      CHECK(identical(of(kernels::tanh), {kNaN, 1, -1, 0, -0.0}));
      CHECK(identical(of(kernels::sigmoid), {kNaN, 1, 0, 0.5, 0.5}));
      CHECK(identical(of(kernels::erf), {kNaN, 1, -1, 0, -0.0}));
      CHECK(identical(of(kernels::rsqrt), {kNaN, 0, kNaN, kInf, -kInf}));
      CHECK(identical(of(kernels::silu), {kNaN, kInf, kNaN, 0, -0.0}));  // as in PyTorch
      CHECK(identical(of(gelu), {kNaN, kInf, kNaN, 0, -0.0}));           // -inf * 0, as in PyTorch
      CHECK(identical(of(gelu_tanh), {kNaN, kInf, kNaN, 0, -0.0}));
      CHECK(std::isnan(of(kernels::relu)[0]));
      CHECK(std::isnan(of(gelu_slope)[0]));
      CHECK(std::isnan(of(gelu_tanh_slope)[0]));
    }
  });
}

TEST_CASE("round rounds halves to the even number", "[kernels]") {
  for_each_simd_target([&](const std::string& target) {
    INFO(target);
    for (const DType dtype : {float32, float64}) {
      CHECK(identical(applied(kernels::round, dtype, {0.5, 1.5, 2.5, -0.3, -0.5, -1.5, 0.25, 3e9}),
                      {0, 2, 2, -0.0, -0.0, -2, 0, 3e9}));
    }
  });
}

// The largest error of a kernel of two variables. The unit is the ulp of the result, or the ulp of
// `at_least` if the result is smaller.
template <class T>
double worst_error_of_two(void (*kernel)(const Array&, const Array&, const Array&),
                          long double (*exact)(long double, long double), const Array& a,
                          const Array& b, long double at_least = 0) {
  const Array out = Array::empty(a.shape(), a.dtype());
  kernel(out, a, b);
  double worst = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const long double want = exact(a.data<T>()[i], b.data<T>()[i]);
    const T value = out.data<T>()[i], rounded = static_cast<T>(want);
    if (std::isnan(want) ? std::isnan(value) : value == rounded) continue;
    const long double unit = ulp_of<T>(std::max(std::abs(want), at_least));
    const long double error = std::abs(static_cast<long double>(value) - want) / unit;
    if (!(error < 1e6L)) return kInf;
    worst = std::max(worst, static_cast<double>(error));
  }
  return worst;
}

TEMPLATE_TEST_CASE("functions of two variables keep their error bounds on every target",
                   "[kernels][simd]", float, double) {
  using T = TestType;
  // Some numbers are whole or zero, which are special cases of pow and atan2.
  const auto numbers = [](std::uint32_t seed) {
    const Array x = random_array({20000}, float64, seed);
    for (std::int64_t i = 0; i < x.numel(); i += 3)
      x.data<double>()[i] = std::round(x.data<double>()[i]);
    return x.to(dtype_of<T>());
  };
  const Array a = numbers(1), b = numbers(2);
  for_each_simd_target([&](const std::string& target) {
    INFO(target);
    CHECK(worst_error_of_two<T>(kernels::atan2, atan2l, a, b) <= 3.2);
    if constexpr (std::is_same_v<T, float>) {
      const Array y = Array::full({1}, 2.00184894f, float32);  // the largest error that was found
      const Array x = Array::full({1}, 1.97262096f, float32);
      CHECK(worst_error_of_two<T>(kernels::atan2, atan2l, y, x) <= 3.2);
    }
    CHECK(worst_error_of_two<T>(kernels::pow, powl, a, b) <= 1);
    const auto xlogy = [](long double x, long double y) {
      return x == 0 && y == y ? 0 : x * logl(y);
    };
    CHECK(worst_error_of_two<T>(kernels::xlogy, xlogy, a, b) <= 1.75);
    // A result near 0 is the difference of two larger numbers, so its error is measured in ulp of
    // 1.
    const auto logaddexp = [](long double x, long double y) { return logl(expl(x) + expl(y)); };
    CHECK(worst_error_of_two<T>(kernels::logaddexp, logaddexp, a, b, 1) <= 2.5);
  });
}

TEST_CASE("functions that are 0 at -0 return a zero with the right sign", "[kernels]") {
  int count = 0;
  for (const Function& f : functions()) {
    const double exact = static_cast<double>(f.exact(-0.0L));
    if (exact != 0) continue;
    for_each_simd_target([&](const std::string& target) {
      INFO(f.name << ' ' << target);
      for (const DType dtype : {float32, float64})
        CHECK(identical(applied(f.kernel, dtype, {-0.0}), {exact}));
    });
    ++count;
  }
  CHECK(count > 15);
}

TEMPLATE_TEST_CASE("logaddexp and xlogy are right where their formulas give NaN", "[kernels]",
                   float, double) {
  using T = TestType;
  const auto of = [](auto kernel, std::initializer_list<double> a,
                     std::initializer_list<double> b) {
    const Array x = array_of<double>(a).to(dtype_of<T>()), y = array_of<double>(b).to(x.dtype());
    kernel(x, x, y);
    return x.to(float64).template to_vector<double>();
  };
  CHECK(identical(of(kernels::logaddexp, {kInf, -kInf, kInf, 1000, -1000, kNaN, kInf},
                     {kInf, -kInf, -kInf, -1000, -2000, 1, kNaN}),
                  {kInf, -kInf, kInf, 1000, -1000, kNaN, kNaN}));
  CHECK(identical(of(kernels::xlogy, {0, 0, 0, 0, 1, kNaN, 2}, {0, kInf, -1, kNaN, 0, 0, -1}),
                  {0, 0, 0, kNaN, -kInf, kNaN, kNaN}));
}
