#include <tend/core/kernels/elementwise/math_spans.h>

#include <cstring>

#include <tend/core/kernels/simd/prefetch.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/math_spans.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_loop.h>
#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_normal.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// out[i] = f(d, in[i]...). A partial vector at the end goes through a buffer, so that it uses the
// same instructions.
template <class T, class F, class... Inputs>
HWY_INLINE void transform(std::size_t n, T* out, F f, const Inputs*... in) {
  const hn::ScalableTag<T> d;
  // With a second input, prefetching costs more than it gains.
  const bool prefetches = sizeof...(in) == 1 && pays_to_prefetch(n * sizeof(T));
  const std::size_t end = for_whole_vectors(d, 0, n, [=](auto, std::size_t i) HWY_ATTR {
    if (prefetches) (prefetch_ahead(in + i), ..., prefetch_ahead(out + i));
    hn::StoreU(f(d, hn::LoadU(d, in + i)...), d, out + i);
  });
  if (end == n) return;
  const std::size_t rest = (n - end) * sizeof(T);
  HWY_ALIGN T tail[hn::MaxLanes(hn::ScalableTag<T>())] = {};
  const auto load = [&](const T* from) HWY_ATTR {
    std::memcpy(tail, from + end, rest);
    return hn::Load(d, tail);
  };
  hn::Store(f(d, load(in)...), d, tail);
  std::memcpy(out + end, tail, rest);
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

template <class T>
void map(Function function, std::size_t n, T* out, const T* a) {
  with_function(function, [=](auto f) HWY_ATTR { transform(n, out, f, a); });
}

template <class T>
void differentiate(Backward function, std::size_t n, T* out, const T* grad, const T* a) {
  with_derivative(function, [=](auto f) HWY_ATTR {
    const auto times_grad = [f](auto d, auto g, auto x) HWY_ATTR { return hn::Mul(g, f(d, x)); };
    transform(n, out, times_grad, grad, a);
  });
}

const ForTypes<SpanKernels>& find_span_kernels() {
  static constexpr ForTypes<SpanKernels> kAll = {{map, differentiate}, {map, differentiate}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

HWY_EXPORT(find_span_kernels);

const ForTypes<SpanKernels>& span_kernels() {
  return HWY_DYNAMIC_DISPATCH(find_span_kernels)();
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
