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
#include <tend/core/kernels/simd/simd_spans.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

template <class D>
HWY_INLINE hn::Vec<D> one(D d) {
  return hn::Set(d, hn::TFromD<D>(1));
}

// Calls use(f), with f(d, x) the function.
template <class F>
HWY_INLINE void with_function(Function function, F use) {
  switch (function) {
    case Function::exp: return use([](auto d, auto x) HWY_ATTR { return exp(d, x); });
    case Function::exp2: return use([](auto d, auto x) HWY_ATTR { return exp2(d, x); });
    case Function::expm1: return use([](auto d, auto x) HWY_ATTR { return expm1(d, x); });
    case Function::log: return use([](auto d, auto x) HWY_ATTR { return log(d, x); });
    case Function::log2: return use([](auto d, auto x) HWY_ATTR { return log2(d, x); });
    case Function::log10: return use([](auto d, auto x) HWY_ATTR { return log10(d, x); });
    case Function::log1p: return use([](auto d, auto x) HWY_ATTR { return log1p(d, x); });
    case Function::sqrt: return use([](auto, auto x) HWY_ATTR { return hn::Sqrt(x); });
    case Function::rsqrt:
      return use([](auto d, auto x) HWY_ATTR { return hn::Div(one(d), hn::Sqrt(x)); });
    case Function::reciprocal:
      return use([](auto d, auto x) HWY_ATTR { return hn::Div(one(d), x); });
    case Function::square: return use([](auto, auto x) HWY_ATTR { return hn::Mul(x, x); });
    case Function::cube:
      return use([](auto, auto x) HWY_ATTR { return hn::Mul(hn::Mul(x, x), x); });
    case Function::sin: return use([](auto d, auto x) HWY_ATTR { return sin(d, x); });
    case Function::cos: return use([](auto d, auto x) HWY_ATTR { return cos(d, x); });
    case Function::tan: return use([](auto d, auto x) HWY_ATTR { return tan(d, x); });
    case Function::asin: return use([](auto d, auto x) HWY_ATTR { return hn::Asin(d, x); });
    case Function::acos: return use([](auto d, auto x) HWY_ATTR { return hn::Acos(d, x); });
    case Function::atan: return use([](auto d, auto x) HWY_ATTR { return hn::Atan(d, x); });
    case Function::sinh: return use([](auto d, auto x) HWY_ATTR { return sinh(d, x); });
    case Function::cosh: return use([](auto d, auto x) HWY_ATTR { return cosh(d, x); });
    case Function::tanh: return use([](auto d, auto x) HWY_ATTR { return tanh(d, x); });
    case Function::sigmoid: return use([](auto d, auto x) HWY_ATTR { return sigmoid(d, x); });
    case Function::erf: return use([](auto d, auto x) HWY_ATTR { return erf(d, x); });
    case Function::erfc: return use([](auto d, auto x) HWY_ATTR { return erfc(d, x); });
    case Function::relu:
      return use([](auto d, auto x)
                     HWY_ATTR { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x); });
    case Function::silu:
      return use([](auto d, auto x) HWY_ATTR { return hn::Mul(x, sigmoid(d, x)); });
    case Function::gelu: return use([](auto d, auto x) HWY_ATTR { return gelu(d, x); });
    case Function::gelu_tanh: return use([](auto d, auto x) HWY_ATTR { return gelu_tanh(d, x); });
    case Function::floor: return use([](auto, auto x) HWY_ATTR { return hn::Floor(x); });
    case Function::ceil: return use([](auto, auto x) HWY_ATTR { return hn::Ceil(x); });
    case Function::round: return use([](auto, auto x) HWY_ATTR { return hn::Round(x); });
    case Function::trunc: return use([](auto, auto x) HWY_ATTR { return hn::Trunc(x); });
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
  with_function(function, [=](auto f) HWY_ATTR { transform(hn::ScalableTag<T>(), n, out, f, a); });
}

HWY_INLINE void pow_span(std::size_t n, double* out, const double* a, const double* b) {
  transform(
      hn::ScalableTag<double>(), n, out,
      [](auto d, auto x, auto y) HWY_ATTR { return pow(d, x, y); }, a, b);
}
HWY_INLINE void pow_span(std::size_t n, float* out, const float* a, const float* b) {
  transform_in_double(
      n, out, [](auto d, auto x, auto y) HWY_ATTR { return pow_for_float(d, x, y); }, a, b);
}

// Calls use(f), with f(d, x, y) the function.
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
  with_binary_function(function,
                       [=](auto f) HWY_ATTR { transform(hn::ScalableTag<T>(), n, out, f, a, b); });
}

// The nonlinearities take exponentials only of numbers that are not positive, so that they never
// overflow.

/// log(1 + e^-|x|)
template <class D, class V>
HWY_INLINE V log_of_one_plus(D d, V x) {
  return log1p(d, exp(d, hn::Neg(hn::Abs(x))));
}

// tanh(log(1 + e^x)) is n / (n + 2) with n = e^x (e^x + 2); where x is positive, both are divided
// by e^2x.
template <class D, class V>
HWY_INLINE V mish(D d, V x) {
  using T = hn::TFromD<D>;
  const V two = hn::Set(d, T(2));
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const V n = hn::IfThenElse(is_negative, hn::Mul(e, hn::Add(e, two)), hn::MulAdd(two, e, one(d)));
  const V more = hn::IfThenElse(is_negative, two, hn::Mul(two, hn::Mul(e, e)));
  return hn::Mul(x, hn::Div(n, hn::Add(n, more)));
}

// Calls use(f), with f(d, x) the function.
template <class T, class F>
HWY_INLINE void with_nonlinearity(Nonlinearity function, Parameters parameters, F use) {
  const auto first = static_cast<T>(parameters.first), second = static_cast<T>(parameters.second);
  switch (function) {
    case Nonlinearity::leaky_relu:
      return use([first](auto d, auto x) HWY_ATTR {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, first)));
      });
    case Nonlinearity::elu:
      return use([first](auto d, auto x) HWY_ATTR {
        return hn::IfThenElse(hn::Le(x, hn::Zero(d)), hn::Mul(hn::Set(d, first), expm1(d, x)), x);
      });
    case Nonlinearity::softplus:
      return use([first, second](auto d, auto x) HWY_ATTR {
        const auto z = hn::Mul(x, hn::Set(d, first));
        const auto sum = hn::Add(at_least(d, z, T(0)), log_of_one_plus(d, z));
        const auto soft = hn::Div(sum, hn::Set(d, first));
        return hn::IfThenElse(hn::Gt(z, hn::Set(d, second)), x, soft);
      });
    case Nonlinearity::logsigmoid:
      return use([](auto d, auto x) HWY_ATTR {
        const auto low = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Zero(d), x);
        return hn::Sub(low, log_of_one_plus(d, x));
      });
    case Nonlinearity::mish: return use([](auto d, auto x) HWY_ATTR { return mish(d, x); });
  }
}

template <class T>
void activate(Nonlinearity function, Parameters parameters, std::size_t n, T* out, const T* a) {
  with_nonlinearity<T>(function, parameters,
                       [=](auto f) HWY_ATTR { transform(hn::ScalableTag<T>(), n, out, f, a); });
}

template <class T>
void differentiate(Backward function, std::size_t n, T* out, const T* grad, const T* a) {
  with_derivative(function, [=](auto f) HWY_ATTR {
    const auto times_grad = [f](auto d, auto g, auto x) HWY_ATTR { return hn::Mul(g, f(d, x)); };
    transform(hn::ScalableTag<T>(), n, out, times_grad, grad, a);
  });
}

const ForTypes<SpanKernels>& find_span_kernels() {
  static constexpr ForTypes<SpanKernels> kAll = {{map, map_two, activate, differentiate},
                                                 {map, map_two, activate, differentiate}};
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
