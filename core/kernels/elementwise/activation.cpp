#include <tend/core/kernels/elementwise/activation.h>

#include <cmath>

#include <tend/core/kernels/elementwise/loops.h>

namespace tend::kernels {
namespace {

// The functions below take exponentials only of numbers that are not positive, so that they never
// overflow.

// tanh(log(1 + e^x)) is n / (n + 2) with n = e^x (e^x + 2).
template <class T>
T mish_value(T x) {
  const T e = std::exp(-std::abs(x));
  if (x < 0) {
    const T n = e * (e + 2);
    return x * (n / (n + 2));
  }
  const T n = 1 + 2 * e;  // n and n + 2 are divided by e^2x here
  return x * (n / (n + 2 * e * e));
}

}  // namespace

void leaky_relu(const Array& out, const Array& x, double slope) {
  map_floating("leaky_relu", out, x,
               [slope]<class T>(T v) { return v > 0 ? v : v * static_cast<T>(slope); });
}

void elu(const Array& out, const Array& x, double alpha) {
  map_floating("elu", out, x, [alpha]<class T>(T v) {
    return v <= 0 ? static_cast<T>(alpha) * std::expm1(v) : v;
  });
}

void softplus(const Array& out, const Array& x, double beta, double threshold) {
  map_floating("softplus", out, x, [=]<class T>(T v) {
    const T factor = static_cast<T>(beta), z = v * factor;
    if (z > static_cast<T>(threshold)) return v;
    return (std::max(z, T(0)) + std::log1p(std::exp(-std::abs(z)))) / factor;
  });
}

void logsigmoid(const Array& out, const Array& x) {
  map_floating("logsigmoid", out, x,
               []<class T>(T v) { return std::min(v, T(0)) - std::log1p(std::exp(-std::abs(v))); });
}

void mish(const Array& out, const Array& x) {
  map_floating("mish", out, x, []<class T>(T v) { return mish_value(v); });
}

}  // namespace tend::kernels
