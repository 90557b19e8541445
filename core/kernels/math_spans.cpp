#include <tend/core/kernels/math_spans.h>

#include <cstring>

#include <tend/core/kernels/choose.h>
#include <tend/core/kernels/fetch.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/math_spans.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd_math.h>
#include <tend/core/kernels/simd_normal.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// What is left of a vector at the end goes through a buffer, and so through the same instructions.

template <class T, class F>
HWY_INLINE void transform(std::size_t n, T* out, const T* a, F f) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const bool fetches = pays_to_fetch(n * sizeof(T));
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if (fetches) fetch_ahead(a + i), fetch_ahead(out + i);
    hn::StoreU(f(d, hn::LoadU(d, a + i)), d, out + i);
  }
  if (i == n) return;
  HWY_ALIGN T tail[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  std::memcpy(tail, a + i, (n - i) * sizeof(T));
  hn::Store(f(d, hn::Load(d, tail)), d, tail);
  std::memcpy(out + i, tail, (n - i) * sizeof(T));
}

template <class T, class F>
HWY_INLINE void transform(std::size_t n, T* out, const T* grad, const T* a, F f) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, grad + i), f(d, hn::LoadU(d, a + i))), d, out + i);
  if (i == n) return;
  HWY_ALIGN T tail[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  HWY_ALIGN T grad_tail[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  std::memcpy(tail, a + i, (n - i) * sizeof(T));
  std::memcpy(grad_tail, grad + i, (n - i) * sizeof(T));
  hn::Store(hn::Mul(hn::Load(d, grad_tail), f(d, hn::Load(d, tail))), d, tail);
  std::memcpy(out + i, tail, (n - i) * sizeof(T));
}

// Calls use(f), with f(d, x) the function.
template <class F>
HWY_INLINE void with_function(Function function, F use) {
  switch (function) {
    case Function::exp: return use([](auto d, auto x) HWY_ATTR { return exp(d, x); });
    case Function::log: return use([](auto d, auto x) HWY_ATTR { return log(d, x); });
    case Function::tanh: return use([](auto d, auto x) HWY_ATTR { return tanh(d, x); });
    case Function::sigmoid: return use([](auto d, auto x) HWY_ATTR { return sigmoid(d, x); });
    case Function::erf: return use([](auto d, auto x) HWY_ATTR { return erf(d, x); });
    case Function::silu:
      return use([](auto d, auto x) HWY_ATTR { return hn::Mul(x, sigmoid(d, x)); });
    case Function::gelu: return use([](auto d, auto x) HWY_ATTR { return gelu(d, x); });
    case Function::gelu_tanh: return use([](auto d, auto x) HWY_ATTR { return gelu_tanh(d, x); });
  }
}

template <class F>
HWY_INLINE void with_derivative(Backward function, F use) {
  switch (function) {
    case Backward::tanh:
      return use([](auto d, auto y) HWY_ATTR {
        return hn::NegMulAdd(y, y, hn::Set(d, hn::TFromD<decltype(d)>(1)));
      });
    case Backward::sigmoid:
      return use([](auto d, auto y) HWY_ATTR {
        return hn::Mul(y, hn::Sub(hn::Set(d, hn::TFromD<decltype(d)>(1)), y));
      });
    case Backward::silu: return use([](auto d, auto x) HWY_ATTR { return silu_derivative(d, x); });
    case Backward::gelu: return use([](auto d, auto x) HWY_ATTR { return gelu_derivative(d, x); });
    case Backward::gelu_tanh:
      return use([](auto d, auto x) HWY_ATTR { return gelu_tanh_derivative(d, x); });
  }
}

// One name for each element type, as HWY_EXPORT wants.

void function_float(Function function, std::size_t n, float* out, const float* a) {
  with_function(function, [=](auto f) HWY_ATTR { transform(n, out, a, f); });
}
void function_double(Function function, std::size_t n, double* out, const double* a) {
  with_function(function, [=](auto f) HWY_ATTR { transform(n, out, a, f); });
}
void backward_float(Backward function, std::size_t n, float* out, const float* grad,
                    const float* a) {
  with_derivative(function, [=](auto f) HWY_ATTR { transform(n, out, grad, a, f); });
}
void backward_double(Backward function, std::size_t n, double* out, const double* grad,
                     const double* a) {
  with_derivative(function, [=](auto f) HWY_ATTR { transform(n, out, grad, a, f); });
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(function_float);
HWY_EXPORT(function_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

template <class T>
void map_span(Function function, std::size_t n, T* out, const T* a) {
  choose<T>(HWY_DYNAMIC_DISPATCH(function_float), HWY_DYNAMIC_DISPATCH(function_double))(function,
                                                                                         n, out, a);
}

template <class T>
void map_span(Backward function, std::size_t n, T* out, const T* grad, const T* a) {
  choose<T>(HWY_DYNAMIC_DISPATCH(backward_float), HWY_DYNAMIC_DISPATCH(backward_double))(
      function, n, out, grad, a);
}

template void map_span(Function, std::size_t, float*, const float*);
template void map_span(Function, std::size_t, double*, const double*);
template void map_span(Backward, std::size_t, float*, const float*, const float*);
template void map_span(Backward, std::size_t, double*, const double*, const double*);

}  // namespace tend::kernels
#endif  // HWY_ONCE
