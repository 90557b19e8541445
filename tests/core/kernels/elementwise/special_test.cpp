#include <tend/core/kernels/elementwise/special.h>

#include <math.h>  // NOLINT(modernize-deprecated-headers): lgammal_r

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/formulas.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/core/ulps.h"
#include "tests/numbers.h"
#include "tests/simd_targets.h"

using namespace tend;
using namespace tend::test;

namespace {

// The functions in long double. They use other methods than the kernels: Newton's method, and sums
// with more terms.

long double exact_lgamma(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

long double exact_erfinv(long double y) {
  if (!(std::abs(y) <= 1)) return std::numeric_limits<long double>::quiet_NaN();
  if (std::abs(y) == 1) return y * std::numeric_limits<long double>::infinity();
  const long double size = std::abs(y), log = log1pl(-size) + log1pl(size);
  long double x = -log < 5 ? 0.9L * size : 0.95L * sqrtl(-log);
  for (int step = 0; step < 60; ++step) {
    const long double error = size < 0.5L ? erfl(x) - size : (1 - size) - erfcl(x);
    const long double newton = error / (2 / sqrtl(M_PIl) * expl(-x * x));
    x -= newton / (1 + x * newton);
  }
  return std::copysign(x, y);
}

constexpr long double kBernoulli[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                                      5.0L / 66, -691.0L / 2730, 7.0L / 6,  -3617.0L / 510};

long double exact_digamma(long double x) {
  long double sum = 0;
  while (x < 40) {
    sum -= 1 / x;
    ++x;
  }
  long double power = 1;
  for (int k = 2; const long double bernoulli : kBernoulli) {
    power /= x * x;
    sum -= bernoulli / k * power;
    k += 2;
  }
  return sum + logl(x) - 0.5L / x;
}

long double exact_polygamma(int n, long double x) {
  if (n == 0) return exact_digamma(x);
  const long double s = n + 1;
  long double sum = 0;
  while (x < 60 + s) {
    sum += powl(x, -s);
    ++x;
  }
  sum += powl(x, 1 - s) / n + powl(x, -s) / 2;
  long double factor = s * powl(x, -s - 1) / 2;
  for (int j = 0; const long double bernoulli : kBernoulli) {
    sum += bernoulli * factor;
    factor *= (s + j + 1) * (s + j + 2) / ((j + 3) * (j + 4) * x * x);
    j += 2;
  }
  return (n % 2 == 0 ? -1 : 1) * tgammal(s) * sum;
}

template <class T>
Array numbers_between(double low, double high, std::int64_t count = 20000) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform(low, high);
  Array out = Array::empty({count}, dtype_of<T>());
  for (std::int64_t i = 0; i < count; ++i) out.data<T>()[i] = static_cast<T>(uniform(generator));
  return out;
}

// The allowed error in ulp. float32 is computed in double, so it has only one rounding to float.
template <class T>
constexpr double allowed(double ulps) {
  return std::is_same_v<T, float> ? 0.51 : ulps;
}

// The largest error of kernel(out, a) on any target. The unit is the ulp of the result, or the ulp
// of least(a) if that is larger. The error is infinite if the kernel's result or the exact value is
// NaN or infinite, and the other is not.
template <class T, class Kernel, class Exact, class Least>
double worst_special_error(const Array& a, Kernel kernel, Exact exact, Least least) {
  std::vector<long double> wanted;
  for (const T x : a.to_vector<T>()) wanted.push_back(exact(x));
  double worst = 0;
  for_each_simd_target([&](const std::string&) {
    const Array out = Array::empty(a.shape(), a.dtype());
    kernel(out, a);
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      const long double want = wanted[static_cast<std::size_t>(i)];
      const T value = out.data<T>()[i], rounded = static_cast<T>(want);
      if (std::isnan(want) ? std::isnan(value) : value == rounded) continue;
      const long double size =
          std::max(std::abs(want), least(static_cast<long double>(a.data<T>()[i])));
      const long double error = std::abs(static_cast<long double>(value) - want) / ulp_of<T>(size);
      worst = std::max(worst, error < 1e6L ? static_cast<double>(error) : kInf);
    }
  });
  return worst;
}
template <class T, class Kernel, class Exact>
double worst_special_error(const Array& a, Kernel kernel, Exact exact) {
  return worst_special_error<T>(a, kernel, exact, [](long double) { return 0.0L; });
}

template <class T>
Array all_sizes() {
  if constexpr (std::is_same_v<T, float>) return sampled_floats(100003);
  return sampled_doubles(40000);
}

auto polygamma_of(std::int64_t n) {
  return [n](const Array& out, const Array& a) { kernels::polygamma(out, a, n); };
}

template <class T>
std::vector<double> of_numbers(std::initializer_list<double> values,
                               const std::function<void(const Array&, const Array&)>& kernel) {
  const Array a = array_of<double>(values).to(dtype_of<T>());
  kernel(a, a);
  return a.to(float64).template to_vector<double>();
}

}  // namespace

TEMPLATE_TEST_CASE("lgamma and erfinv keep their error bounds on every target", "[kernels][simd]",
                   float, double) {
  using T = TestType;
  for (const auto& [low, high] : {std::pair{0.0, 10.0}, {0.8, 1.2}, {1.8, 2.2}, {7.0, 300.0}}) {
    INFO("from " << low << " to " << high);
    const Array a = numbers_between<T>(low, high);
    CHECK(worst_special_error<T>(a, kernels::lgamma, exact_lgamma) <= allowed<T>(3));
  }
  const auto mirrored = [](long double x) {
    return x < 0 ? std::max(std::abs(exact_lgamma(1 - x)), 1.0L) : 0;
  };
  for (const Array& a : {all_sizes<T>(), numbers_between<T>(-30, 0)})
    CHECK(worst_special_error<T>(a, kernels::lgamma, exact_lgamma, mirrored) <= allowed<T>(5));

  const Array small = numbers_between<T>(-40, 0);
  Array near_one = Array::empty(small.shape(), small.dtype());
  for (std::int64_t i = 0; i < small.numel(); ++i)
    near_one.data<T>()[i] = 1 - std::exp(small.data<T>()[i]);
  for (const Array& a : {all_sizes<T>(), numbers_between<T>(-1, 1), near_one})
    CHECK(worst_special_error<T>(a, kernels::erfinv, exact_erfinv) <= allowed<T>(3));
}

TEMPLATE_TEST_CASE("polygamma keeps its error bounds on every target", "[kernels][simd]", float,
                   double) {
  using T = TestType;
  const Array a = numbers_between<T>(0, 30, 3000);
  const auto one = [](long double) { return 1.0L; };
  CHECK(worst_special_error<T>(a, polygamma_of(0), exact_digamma, one) <= allowed<T>(7));
  for (const int n : {1, 2, 3, 4, 9, 30}) {
    INFO("order " << n);
    const auto exact = [n](long double x) { return exact_polygamma(n, x); };
    CHECK(worst_special_error<T>(a, polygamma_of(n), exact) <= allowed<T>(9));
  }
  // Negative numbers use the reflection formulas of digamma and of its derivative.
  const auto reflected = [](long double x) {
    return exact_digamma(1 - x) - M_PIl / tanl(M_PIl * (x - nearbyintl(x)));
  };
  const auto reflected_slope = [](long double x) {
    const long double sine = sinl(M_PIl * (x - nearbyintl(x))) / M_PIl;
    return 1 / (sine * sine) - exact_polygamma(1, 1 - x);
  };
  const Array negative = numbers_between<T>(-30, 0, 3000);
  const auto ten = [](long double) { return 10.0L; };
  CHECK(worst_special_error<T>(negative, polygamma_of(0), reflected, ten) <= allowed<T>(4));
  CHECK(worst_special_error<T>(negative, polygamma_of(1), reflected_slope, ten) <= allowed<T>(8));
}

TEMPLATE_TEST_CASE("special functions have the same limits as in PyTorch", "[kernels][simd]", float,
                   double) {
  using T = TestType;
  const std::initializer_list<double> points{kNaN, kInf, -kInf, 0, -0.0, -1, -2, 1, 2};
  for_each_simd_target([&](const std::string& target) {
    INFO(target);
    CHECK(identical(of_numbers<T>(points, kernels::lgamma),
                    {kNaN, kInf, kInf, kInf, kInf, kInf, kInf, 0, 0}));
    CHECK(identical(of_numbers<T>(points, kernels::erfinv),
                    {kNaN, kNaN, kNaN, 0, -0.0, -kInf, kNaN, kInf, kNaN}));
    std::vector<double> digamma = of_numbers<T>(points, polygamma_of(0));
    digamma.resize(7);
    CHECK(identical(digamma, {kNaN, kInf, kNaN, -kInf, kInf, kNaN, kNaN}));
    std::vector<double> second = of_numbers<T>(points, polygamma_of(2));
    second.resize(7);
    CHECK(identical(second, {kNaN, -0.0, kNaN, -kInf, -kInf, -kInf, -kInf}));
    CHECK(identical(of_numbers<T>({-1e7, 3e38}, polygamma_of(1)), {kNaN, T(1 / T(3e38))}));
    const auto clamped = [](const Array& out, const Array& a) {
      kernels::compute("logit", kernels::Formula::logit, {0.25, 0.75}, out, a);
    };
    const std::vector<double> ends = of_numbers<T>({0.25, 0.75}, clamped);
    CHECK(identical(of_numbers<T>({kNaN, -kInf, 0.5, 1}, clamped), {kNaN, ends[0], 0, ends[1]}));
    const auto to_tens = [](const Array& out, const Array& a) {
      kernels::round_decimals(out, a, -1);
    };
    CHECK(identical(of_numbers<T>({kNaN, kInf, 25, 35, -3, 1234}, to_tens),
                    {kNaN, kInf, 20, 40, -0.0, 1230}));
  });
}

TEMPLATE_TEST_CASE("powers of special numbers are as in C", "[kernels][simd]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), most = Limits::max(), least = Limits::min();
  const T halves = T(0.5) / Limits::epsilon() + T(0.5);  // half of an odd number
  std::vector<T> points{0,
                        1,
                        2,
                        3,
                        T(0.5),
                        T(2.5),
                        inf,
                        most,
                        least,
                        Limits::denorm_min(),
                        halves,
                        2 * halves,
                        T(1) + Limits::epsilon(),
                        T(1) / 3};
  for (std::size_t i = points.size(); i-- > 0;) points.push_back(-points[i]);
  points.push_back(Limits::quiet_NaN());
  const auto n = static_cast<std::int64_t>(points.size());
  const Array a = Array::empty({n, n}, dtype_of<T>()), b = Array::empty({n, n}, dtype_of<T>());
  for (std::int64_t i = 0; i < n * n; ++i) {
    a.data<T>()[i] = points[static_cast<std::size_t>(i / n)];
    b.data<T>()[i] = points[static_cast<std::size_t>(i % n)];
  }
  for_each_simd_target([&](const std::string& target) {
    const Array out = Array::empty({n, n}, a.dtype());
    kernels::pow(out, a, b);
    for (std::int64_t i = 0; i < n * n; ++i) {
      const T x = a.data<T>()[i], y = b.data<T>()[i], got = out.data<T>()[i];
      INFO(target << ": " << x << " to the power of " << y << " is " << got);
      const T want = std::pow(x, y);
      if (std::isnan(want) || std::isinf(want) || want == 0) {
        CHECK(identical({got}, {want}));
      } else {
        CHECK(std::abs(got - want) <= static_cast<T>(ulp_of<T>(want)));
      }
    }
  });
}

TEMPLATE_TEST_CASE("finite powers keep their error bound for all sizes of bases", "[kernels][simd]",
                   float, double) {
  using T = TestType;
  std::mt19937_64 generator(11);
  const long double top = logl(std::numeric_limits<T>::max());
  std::uniform_real_distribution<double> logarithm(-1, 1), near_one(-30, -1);
  const std::int64_t count = 30000;
  const Array a = Array::empty({count}, dtype_of<T>()), b = Array::empty({count}, dtype_of<T>());
  std::vector<long double> wanted;
  for (std::int64_t i = 0; i < count; ++i) {
    // Half of the bases have any size. The other half are near 1.
    const double part = logarithm(generator);
    const double log = i % 2 == 0 ? part * static_cast<double>(top)
                                  : std::copysign(std::exp(near_one(generator)), part);
    const T x = static_cast<T>(std::exp(log));
    const double exponent = logarithm(generator) * static_cast<double>(top);
    const T y = x == 1 ? T(1) : static_cast<T>(exponent / std::log(static_cast<double>(x)));
    a.data<T>()[i] = x;
    b.data<T>()[i] = y;
    wanted.push_back(powl(x, y));
  }
  for_each_simd_target([&](const std::string& target) {
    INFO(target);
    const Array out = Array::empty({count}, a.dtype());
    kernels::pow(out, a, b);
    long double worst = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const long double want = wanted[static_cast<std::size_t>(i)];
      if (out.data<T>()[i] == static_cast<T>(want)) continue;
      const long double error = std::abs(out.data<T>()[i] - want) / ulp_of<T>(want);
      // A NaN counts as an infinite error.
      worst = std::max(worst, error >= 0 ? error : static_cast<long double>(kInf));
    }
    CHECK(worst < allowed<T>(0.8));
  });
}
