// The functions of math.h that the C library computes.
#include <tend/core/kernels/elementwise/math.h>

#include <cmath>

#include <tend/core/kernels/elementwise/loops.h>

namespace tend::kernels {
void exp2(const Array& out, const Array& a) {
  map_floating("exp2", out, a, [](auto x) { return std::exp2(x); });
}
void expm1(const Array& out, const Array& a) {
  map_floating("expm1", out, a, [](auto x) { return std::expm1(x); });
}
void log2(const Array& out, const Array& a) {
  map_floating("log2", out, a, [](auto x) { return std::log2(x); });
}
void log10(const Array& out, const Array& a) {
  map_floating("log10", out, a, [](auto x) { return std::log10(x); });
}
void log1p(const Array& out, const Array& a) {
  map_floating("log1p", out, a, [](auto x) { return std::log1p(x); });
}
void sqrt(const Array& out, const Array& a) {
  map_floating("sqrt", out, a, [](auto x) { return std::sqrt(x); });
}
void rsqrt(const Array& out, const Array& a) {
  map_floating("rsqrt", out, a, [](auto x) { return 1 / std::sqrt(x); });
}
void reciprocal(const Array& out, const Array& a) {
  map_floating("reciprocal", out, a, [](auto x) { return 1 / x; });
}
void sin(const Array& out, const Array& a) {
  map_floating("sin", out, a, [](auto x) { return std::sin(x); });
}
void cos(const Array& out, const Array& a) {
  map_floating("cos", out, a, [](auto x) { return std::cos(x); });
}
void tan(const Array& out, const Array& a) {
  map_floating("tan", out, a, [](auto x) { return std::tan(x); });
}
void asin(const Array& out, const Array& a) {
  map_floating("asin", out, a, [](auto x) { return std::asin(x); });
}
void acos(const Array& out, const Array& a) {
  map_floating("acos", out, a, [](auto x) { return std::acos(x); });
}
void atan(const Array& out, const Array& a) {
  map_floating("atan", out, a, [](auto x) { return std::atan(x); });
}
void sinh(const Array& out, const Array& a) {
  map_floating("sinh", out, a, [](auto x) { return std::sinh(x); });
}
void cosh(const Array& out, const Array& a) {
  map_floating("cosh", out, a, [](auto x) { return std::cosh(x); });
}
void erfc(const Array& out, const Array& a) {
  map_floating("erfc", out, a, [](auto x) { return std::erfc(x); });
}
void floor(const Array& out, const Array& a) {
  map_floating("floor", out, a, [](auto x) { return std::floor(x); });
}
void ceil(const Array& out, const Array& a) {
  map_floating("ceil", out, a, [](auto x) { return std::ceil(x); });
}
void round(const Array& out, const Array& a) {
  map_floating("round", out, a, [](auto x) { return std::nearbyint(x); });
}
void trunc(const Array& out, const Array& a) {
  map_floating("trunc", out, a, [](auto x) { return std::trunc(x); });
}

void atan2(const Array& out, const Array& a, const Array& b) {
  map_floating("atan2", out, a, b, [](auto y, auto x) { return std::atan2(y, x); });
}

void logaddexp(const Array& out, const Array& a, const Array& b) {
  map_floating("logaddexp", out, a, b, []<class T>(T x, T y) {
    if (x == y) return x + std::log(T(2));  // also for infinities, whose difference is NaN
    return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
  });
}

void xlogy(const Array& out, const Array& a, const Array& b) {
  map_floating("xlogy", out, a, b,
               []<class T>(T x, T y) { return x == 0 && !std::isnan(y) ? T(0) : x * std::log(y); });
}

}  // namespace tend::kernels
