#include <tend/core/kernels/math.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include <tend/core/kernels/loops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/math.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Spans of contiguous elements. What is left of a vector at the end goes through a buffer, and so
// through the same instructions: a result does not depend on where its element lies.

template <class F>
HWY_INLINE void transform(std::size_t n, float* out, const float* a, F f) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, a + i)), d, out + i);
  if (i == n) return;
  HWY_ALIGN float tail[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  std::memcpy(tail, a + i, (n - i) * sizeof(float));
  hn::Store(f(d, hn::Load(d, tail)), d, tail);
  std::memcpy(out + i, tail, (n - i) * sizeof(float));
}

template <class F>
HWY_INLINE void transform_scaled(std::size_t n, float* out, const float* grad, const float* a,
                                 F f) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, grad + i), f(d, hn::LoadU(d, a + i))), d, out + i);
  if (i == n) return;
  HWY_ALIGN float tail[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  HWY_ALIGN float grad_tail[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  std::memcpy(tail, a + i, (n - i) * sizeof(float));
  std::memcpy(grad_tail, grad + i, (n - i) * sizeof(float));
  hn::Store(hn::Mul(hn::Load(d, grad_tail), f(d, hn::Load(d, tail))), d, tail);
  std::memcpy(out + i, tail, (n - i) * sizeof(float));
}

void exp_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return exp(d, x); });
}
void log_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return log(d, x); });
}
void tanh_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return tanh(d, x); });
}
void sigmoid_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return sigmoid(d, x); });
}
void erf_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return erf(d, x); });
}
void silu_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return hn::Mul(x, sigmoid(d, x)); });
}
void silu_backward_span(std::size_t n, float* out, const float* grad, const float* a) {
  transform_scaled(n, out, grad, a, [](auto d, auto x) HWY_ATTR { return silu_derivative(d, x); });
}
void gelu_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return gelu(d, x); });
}
void gelu_tanh_span(std::size_t n, float* out, const float* a) {
  transform(n, out, a, [](auto d, auto x) HWY_ATTR { return gelu_tanh(d, x); });
}
void gelu_backward_span(std::size_t n, float* out, const float* grad, const float* a) {
  transform_scaled(n, out, grad, a, [](auto d, auto x) HWY_ATTR { return gelu_derivative(d, x); });
}
void gelu_tanh_backward_span(std::size_t n, float* out, const float* grad, const float* a) {
  transform_scaled(n, out, grad, a,
                   [](auto d, auto x) HWY_ATTR { return gelu_tanh_derivative(d, x); });
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(exp_span);
HWY_EXPORT(log_span);
HWY_EXPORT(tanh_span);
HWY_EXPORT(sigmoid_span);
HWY_EXPORT(erf_span);
HWY_EXPORT(silu_span);
HWY_EXPORT(silu_backward_span);
HWY_EXPORT(gelu_span);
HWY_EXPORT(gelu_tanh_span);
HWY_EXPORT(gelu_backward_span);
HWY_EXPORT(gelu_tanh_backward_span);

// Calls span(n, out, inputs...) over contiguous float32 elements; where an array has other steps,
// through a buffer.
template <class Span, class... Inputs>
void map_spans(Span span, const Array& out, const Inputs&... inputs) {
  constexpr std::size_t kArrays = 1 + sizeof...(Inputs);
  const auto fitted = [&](const Array& x) {
    return x.shape() == out.shape() ? x : x.expand(out.shape());
  };
  const std::array<Array, kArrays> views{out, fitted(inputs)...};
  std::array<const Array*, kArrays> operands;
  for (std::size_t k = 0; k < kArrays; ++k) operands[k] = &views[k];
  StridedLoop<kArrays>(operands).run([span](std::int64_t count, auto p, const auto& step) {
    constexpr std::int64_t kBlock = 256;
    alignas(64) float buffers[kArrays][kBlock];
    const bool contiguous =
        std::all_of(step.begin(), step.end(), [](auto bytes) { return bytes == sizeof(float); });
    const std::int64_t most = contiguous ? count : kBlock;
    for (std::int64_t done = 0; done < count; done += most) {
      const std::int64_t n = std::min(most, count - done);
      std::array<float*, kArrays> at;
      for (std::size_t k = 0; k < kArrays; ++k) {
        std::byte* first = p[k] + done * step[k];
        at[k] = step[k] == sizeof(float) ? reinterpret_cast<float*>(first) : buffers[k];
        if (k == 0 || at[k] != buffers[k]) continue;
        for (std::int64_t i = 0; i < n; ++i)
          at[k][i] = *reinterpret_cast<const float*>(first + i * step[k]);
      }
      std::apply([&](auto... pointers) { span(static_cast<std::size_t>(n), pointers...); }, at);
      if (at[0] != buffers[0]) continue;
      for (std::int64_t i = 0; i < n; ++i)
        *reinterpret_cast<float*>(p[0] + (done + i) * step[0]) = at[0][i];
    }
  });
}

// float32 through SIMD, float64 by `f`.
template <class Span, class F>
void map_floating(std::string_view operation, const Array& out, const Array& a, Span span, F f) {
  if (out.dtype() == float32) return map_spans(span, out, a);
  visit_floating(operation, out.dtype(), [&](auto) { map<double, double>(out, a, f); });
}

double sigmoid_value(double x) {
  const double e = std::exp(-std::abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

double silu_slope(double x) {
  const double s = sigmoid_value(x);
  return s * (1 + x * sigmoid_value(-x));
}

double normal_mass(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// The tanh approximation of the normal distribution function is sigmoid(2 u); see simd_math.h.
constexpr double kTwoRootTwoOverPi = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kCubic = 0.044715;

double gelu_value(double x) {
  return x * normal_mass(x);
}

double gelu_tanh_value(double x) {
  return x * sigmoid_value(kTwoRootTwoOverPi * x * (1 + kCubic * x * x));
}

double gelu_slope(double x) {
  const double density = 0.25 * kTwoRootTwoOverPi * std::exp(-0.5 * x * x);
  return normal_mass(x) + x * density;
}

double gelu_tanh_slope(double x) {
  const double square = std::min(x * x, 1024.0);  // beyond, the second term is 0
  const double z = kTwoRootTwoOverPi * x * (1 + kCubic * square);
  const double s = sigmoid_value(z);
  return s + x * s * sigmoid_value(-z) * kTwoRootTwoOverPi * (1 + 3 * kCubic * square);
}

}  // namespace

void exp(const Array& out, const Array& a) {
  map_floating("exp", out, a, HWY_DYNAMIC_DISPATCH(exp_span), [](double x) { return std::exp(x); });
}
void log(const Array& out, const Array& a) {
  map_floating("log", out, a, HWY_DYNAMIC_DISPATCH(log_span), [](double x) { return std::log(x); });
}
void tanh(const Array& out, const Array& a) {
  map_floating("tanh", out, a, HWY_DYNAMIC_DISPATCH(tanh_span),
               [](double x) { return std::tanh(x); });
}
void sigmoid(const Array& out, const Array& a) {
  map_floating("sigmoid", out, a, HWY_DYNAMIC_DISPATCH(sigmoid_span), sigmoid_value);
}
void erf(const Array& out, const Array& a) {
  map_floating("erf", out, a, HWY_DYNAMIC_DISPATCH(erf_span), [](double x) { return std::erf(x); });
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

void silu(const Array& out, const Array& x) {
  map_floating("silu", out, x, HWY_DYNAMIC_DISPATCH(silu_span),
               [](double v) { return v * sigmoid_value(v); });
}

void silu_backward(const Array& out, const Array& grad, const Array& x) {
  if (out.dtype() == float32)
    return map_spans(HWY_DYNAMIC_DISPATCH(silu_backward_span), out, grad, x);
  visit_floating("silu_backward", out.dtype(), [&](auto) {
    map<double, double, double>(out, grad, x, [](double g, double v) { return g * silu_slope(v); });
  });
}

void gelu(const Array& out, const Array& x, bool tanh_approx) {
  if (tanh_approx) {
    map_floating("gelu", out, x, HWY_DYNAMIC_DISPATCH(gelu_tanh_span), gelu_tanh_value);
  } else {
    map_floating("gelu", out, x, HWY_DYNAMIC_DISPATCH(gelu_span), gelu_value);
  }
}

void gelu_backward(const Array& out, const Array& grad, const Array& x, bool tanh_approx) {
  if (out.dtype() == float32) {
    return tanh_approx ? map_spans(HWY_DYNAMIC_DISPATCH(gelu_tanh_backward_span), out, grad, x)
                       : map_spans(HWY_DYNAMIC_DISPATCH(gelu_backward_span), out, grad, x);
  }
  visit_floating("gelu_backward", out.dtype(), [&](auto) {
    const auto slope = tanh_approx ? gelu_tanh_slope : gelu_slope;
    map<double, double, double>(out, grad, x, [slope](double g, double v) { return g * slope(v); });
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
