#include <tend/core/kernels/elementwise/math_spans.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/math_spans.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_functions.h>
#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_normal.h>
#include <tend/core/kernels/simd/simd_pow.h>
#include <tend/core/kernels/simd/simd_transform.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// Calls use(f), where f(d, x) is the function.
template <class F>
HWY_INLINE void with_function(Function function, F use) {
  switch (function) {
#define TEND_FUNCTION(name, formula) \
  case Function::name:               \
    return use([]([[maybe_unused]] auto d, auto x) HWY_ATTR { return formula; });
#include <tend/core/kernels/elementwise/math_table.h>
#undef TEND_FUNCTION
    case Function::square: return use([](auto, auto x) HWY_ATTR { return hn::Mul(x, x); });
    case Function::cube:
      return use([](auto, auto x) HWY_ATTR { return hn::Mul(hn::Mul(x, x), x); });
    case Function::relu:
      return use([](auto d, auto x)
                     HWY_ATTR { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x); });
    case Function::silu:
      return use([](auto d, auto x) HWY_ATTR { return hn::Mul(x, sigmoid(d, x)); });
    case Function::gelu: return use([](auto d, auto x) HWY_ATTR { return gelu(d, x); });
    case Function::gelu_tanh: return use([](auto d, auto x) HWY_ATTR { return gelu_tanh(d, x); });
  }
}

bool takes_longer_than_memory(Function function) {
  switch (function) {
    case Function::square:
    case Function::cube:
    case Function::relu:
    case Function::floor:
    case Function::ceil:
    case Function::round:
    case Function::trunc: return false;
    default: return true;
  }
}

template <class T>
void map(Function function, std::size_t n, T* out, const T* a) {
  const bool prefetches = takes_longer_than_memory(function);
  with_function(function, [=](auto f) HWY_ATTR {
    transform(hn::ScalableTag<T>(), prefetches, n, out, f, a);
  });
}

HWY_INLINE void pow_span(std::size_t n, double* out, const double* a, const double* b) {
  transform(
      hn::ScalableTag<double>(), false, n, out,
      [](auto d, auto x, auto y) HWY_ATTR { return pow(d, x, y); }, a, b);
}
HWY_INLINE void pow_span(std::size_t n, float* out, const float* a, const float* b) {
  transform_in_double(
      n, out, [](auto d, auto x, auto y) HWY_ATTR { return pow_for_float(d, x, y); }, a, b);
}

// Calls use(f), where f(d, x, y) is the function.
template <class F>
HWY_INLINE void with_binary_function(BinaryFunction function, F use) {
  switch (function) {
    case BinaryFunction::atan2:
      return use([](auto d, auto x, auto y) HWY_ATTR { return atan2(d, x, y); });
    case BinaryFunction::logaddexp:
      return use([](auto d, auto x, auto y) HWY_ATTR { return logaddexp(d, x, y); });
    case BinaryFunction::xlogy:
      return use([](auto d, auto x, auto y) HWY_ATTR { return xlogy(d, x, y); });
    case BinaryFunction::fmod:
      return use([](auto d, auto x, auto y) HWY_ATTR { return fmod(d, x, y); });
    case BinaryFunction::remainder:
      return use([](auto d, auto x, auto y) HWY_ATTR { return remainder(d, x, y); });
    case BinaryFunction::floor_divide:
      return use([](auto d, auto x, auto y) HWY_ATTR { return floor_divide(d, x, y); });
    case BinaryFunction::trunc_divide:
      return use([](auto, auto x, auto y) HWY_ATTR { return hn::Trunc(hn::Div(x, y)); });
    case BinaryFunction::pow: return;  // see pow_span
  }
}

template <class T>
void map_two(BinaryFunction function, std::size_t n, T* out, const T* a, const T* b) {
  if (function == BinaryFunction::pow) return pow_span(n, out, a, b);
  with_binary_function(
      function, [=](auto f) HWY_ATTR { transform(hn::ScalableTag<T>(), false, n, out, f, a, b); });
}

const ForTypes<SpanKernels>& find_span_kernels() {
  static constexpr ForTypes<SpanKernels> kAll = {{map, map_two}, {map, map_two}};
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
