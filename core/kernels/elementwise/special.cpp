#include <tend/core/kernels/elementwise/special.h>

#include <cmath>
#include <limits>
#include <string_view>

#include <tend/core/kernels/elementwise/map_spans.h>
#include <tend/core/kernels/simd/for_types.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/special.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_gamma.h>
#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_normal.h>
#include <tend/core/kernels/simd/simd_transform.h>

#ifndef TEND_CORE_KERNELS_SPECIAL_FUNCTIONS
#define TEND_CORE_KERNELS_SPECIAL_FUNCTIONS
namespace tend::kernels {

enum class Special { lgamma, erfinv, polygamma, round };

// A function with its parameter: the order of polygamma, or the decimals of round.
struct SpecialFunction {
  Special function;
  std::int64_t number = 0;
};

// Maps contiguous elements, like SpanKernels.
template <class T>
struct SpecialKernels {
  void (*map)(SpecialFunction function, std::size_t n, T* out, const T* a);
};

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// out[i] = f(d, a[i]), computed in double.
template <class F>
HWY_INLINE void map_in_double(std::size_t n, double* out, const double* a, F f) {
  transform(hn::ScalableTag<double>(), true, n, out, f, a);
}
template <class F>
HWY_INLINE void map_in_double(std::size_t n, float* out, const float* a, F f) {
  transform_in_double(n, out, f, a);
}

template <class T>
void polygamma(std::int64_t order, std::size_t n, T* out, const T* a) {
  if (order == 0)
    return map_in_double(n, out, a, [](auto d, auto x) HWY_ATTR { return digamma(d, x); });
  const double sign = order % 2 == 0 ? -1 : 1;
  const double factor = sign * std::tgamma(static_cast<double>(order) + 1);
  map_in_double(n, out, a, [order, factor](auto d, auto x) HWY_ATTR {
    // Below -1e6, the sum that defines the function has too many terms.
    const auto nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
    const auto limited = hn::IfThenElse(hn::Lt(x, hn::Set(d, -1e6)), nan, x);
    return hn::Mul(hn::Set(d, factor), hurwitz_zeta(d, order + 1, limited));
  });
}

template <class T>
void round_decimals(std::int64_t decimals, std::size_t n, T* out, const T* a) {
  const auto power = static_cast<T>(std::pow(10., std::fabs(static_cast<double>(decimals))));
  if (decimals > 0) {
    const auto f = [power](auto d, auto x) HWY_ATTR {
      return hn::Div(round(hn::Mul(x, hn::Set(d, power))), hn::Set(d, power));
    };
    return transform(hn::ScalableTag<T>(), true, n, out, f, a);
  }
  const auto f = [power](auto d, auto x) HWY_ATTR {
    return hn::Mul(round(hn::Div(x, hn::Set(d, power))), hn::Set(d, power));
  };
  transform(hn::ScalableTag<T>(), true, n, out, f, a);
}

template <class T>
void map(SpecialFunction f, std::size_t n, T* out, const T* a) {
  switch (f.function) {
    case Special::lgamma:
      return map_in_double(n, out, a, [](auto d, auto x) HWY_ATTR { return lgamma(d, x); });
    case Special::erfinv:
      return map_in_double(n, out, a, [](auto d, auto y) HWY_ATTR { return erfinv(d, y); });
    case Special::polygamma: return polygamma(f.number, n, out, a);
    case Special::round: return round_decimals(f.number, n, out, a);
  }
}

const ForTypes<SpecialKernels>& find_special_kernels() {
  static constexpr ForTypes<SpecialKernels> kAll = {{map}, {map}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

namespace {

HWY_EXPORT(find_special_kernels);

void map_special(std::string_view operation, SpecialFunction function, const Array& out,
                 const Array& a) {
  visit_floating(operation, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto span = [function, map = HWY_DYNAMIC_DISPATCH(find_special_kernels)().of<T>().map](
                          std::size_t n, T* to, const T* from) { map(function, n, to, from); };
    map_spans<T>(span, out, a);
  });
}

}  // namespace

void lgamma(const Array& out, const Array& a) {
  map_special("lgamma", {.function = Special::lgamma}, out, a);
}

void polygamma(const Array& out, const Array& a, std::int64_t n) {
  map_special("polygamma", {.function = Special::polygamma, .number = n}, out, a);
}

void erfinv(const Array& out, const Array& a) {
  map_special("erfinv", {.function = Special::erfinv}, out, a);
}

void round_decimals(const Array& out, const Array& a, std::int64_t decimals) {
  map_special("round", {.function = Special::round, .number = decimals}, out, a);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
