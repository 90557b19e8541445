#include <tend/core/kernels/math.h>

#include <cmath>
#include <numbers>

#include <tend/core/kernels/loops.h>

namespace tend::kernels {
namespace {

template <class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, F f) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, f);
  });
}

template <class T>
T gelu_value(T x, bool tanh_approx) {
  constexpr T kRoot = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  if (tanh_approx) return T(0.5) * x * (1 + std::tanh(kRoot * (x + T(0.044715) * x * x * x)));
  return T(0.5) * x * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
}

template <class T>
T gelu_slope(T x, bool tanh_approx) {
  constexpr T kRoot = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  if (tanh_approx) {
    const T t = std::tanh(kRoot * (x + T(0.044715) * x * x * x));
    const T inner = kRoot * (1 + T(0.134145) * x * x);
    return T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * inner;
  }
  const T density = T(0.5) * kRoot * std::exp(T(-0.5) * x * x);
  return T(0.5) * (1 + std::erf(x / std::numbers::sqrt2_v<T>)) + x * density;
}

}  // namespace

void exp(const Array& out, const Array& a) {
  map_floating("exp", out, a, [](auto x) { return std::exp(x); });
}
void expm1(const Array& out, const Array& a) {
  map_floating("expm1", out, a, [](auto x) { return std::expm1(x); });
}
void log(const Array& out, const Array& a) {
  map_floating("log", out, a, [](auto x) { return std::log(x); });
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
void tanh(const Array& out, const Array& a) {
  map_floating("tanh", out, a, [](auto x) { return std::tanh(x); });
}
void sigmoid(const Array& out, const Array& a) {
  map_floating("sigmoid", out, a, [](auto x) { return 1 / (1 + std::exp(-x)); });
}
void erf(const Array& out, const Array& a) {
  map_floating("erf", out, a, [](auto x) { return std::erf(x); });
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

void square(const Array& out, const Array& a) {
  visit_number("square", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) {
      if constexpr (std::is_integral_v<T>) {
        const auto bits = static_cast<std::uint64_t>(x);
        return static_cast<T>(bits * bits);  // wraps around
      } else {
        return x * x;
      }
    });
  });
}

void relu(const Array& out, const Array& a) {
  visit_number("relu", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T>(out, a, [](T x) { return x <= 0 ? T(0) : x; });
  });
}

void gelu(const Array& out, const Array& x, bool tanh_approx) {
  map_floating("gelu", out, x, [tanh_approx](auto v) { return gelu_value(v, tanh_approx); });
}

void gelu_backward(const Array& out, const Array& grad, const Array& x, bool tanh_approx) {
  visit_floating("gelu_backward", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    map<T, T, T>(out, grad, x, [tanh_approx](T g, T v) { return g * gelu_slope(v, tanh_approx); });
  });
}

}  // namespace tend::kernels
