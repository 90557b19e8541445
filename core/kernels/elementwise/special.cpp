#include <tend/core/kernels/elementwise/special.h>

#include <math.h>  // lgamma_r

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <tend/core/kernels/elementwise/loops.h>

namespace tend::kernels {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The Bernoulli numbers B2, B4, ...
constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

// Where the asymptotic series below reach the precision of float64.
constexpr double kLarge = 12;

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNaN;
    // By the distance to the nearest integer, since the tangent of a large angle is inexact.
    return digamma(1 - x) - kPi / std::tan(kPi * (x - std::round(x)));
  }
  double result = 0;
  for (; x < kLarge; ++x) result -= 1 / x;
  const double square = x * x;
  double power = 1, series = 0;
  for (std::size_t k = 0; k < kBernoulli.size(); ++k) {
    power /= square;
    series += kBernoulli[k] / (2 * static_cast<double>(k) + 2) * power;
  }
  return result + std::log(x) - 0.5 / x - series;
}

// The sum over k >= 0 of (x + k)^-s for s > 1, by the formula of Euler and Maclaurin.
double hurwitz_zeta(double s, double x) {
  if (x <= 0 && x == std::floor(x)) return kInfinity;
  double sum = 0;
  for (; x < kLarge + s; ++x) sum += std::pow(x, -s);
  sum += std::pow(x, 1 - s) / (s - 1) + std::pow(x, -s) / 2;
  // s (s + 1) ... (s + 2j) x^(-s - 2j - 1) / (2j + 2)!
  double factor = s * std::pow(x, -s - 1) / 2;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    sum += kBernoulli[j] * factor;
    const double n = 2 * static_cast<double>(j);
    factor *= (s + n + 1) * (s + n + 2) / ((n + 3) * (n + 4) * x * x);
  }
  return sum;
}

double polygamma(double x, std::int64_t n) {
  if (n == 0) return digamma(x);
  if (x < -1e6) return kNaN;
  const double order = static_cast<double>(n);
  const double sum = std::tgamma(order + 1) * hurwitz_zeta(order + 1, x);
  return n % 2 == 0 ? -sum : sum;
}

// A guess that is right to 0.2 % (Winitzki's), and steps of Halley's method.
double erfinv(double y) {
  if (!(std::abs(y) <= 1)) return kNaN;
  if (std::abs(y) == 1) return std::copysign(kInfinity, y);
  const double size = std::abs(y);
  const double log = std::log1p(-size) + std::log1p(size);
  const double half = 2 / (kPi * 0.147) + log / 2;
  double x = std::sqrt(std::sqrt(half * half - log / 0.147) - half);
  for (int step = 0; step < 3; ++step) {
    // Near 1 by what is missing there, which is exact.
    const double error = size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x);
    const double newton = error / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= newton / (1 + x * newton);
  }
  return std::copysign(x, y);
}

// f of each element, computed in double.
template <class F>
void map_double(const char* operation, const Array& out, const Array& a, F f) {
  map_floating(operation, out, a,
               [f]<class T>(T x) { return static_cast<T>(f(static_cast<double>(x))); });
}

}  // namespace

void lgamma(const Array& out, const Array& a) {
  map_double("lgamma", out, a, [](double x) {
    int sign = 0;  // std::lgamma writes it to a global variable, where threads would race
    return ::lgamma_r(x, &sign);
  });
}

void polygamma(const Array& out, const Array& a, std::int64_t n) {
  map_double("polygamma", out, a, [n](double x) { return polygamma(x, n); });
}

void erfinv(const Array& out, const Array& a) {
  map_double("erfinv", out, a, [](double y) { return erfinv(y); });
}

}  // namespace tend::kernels
