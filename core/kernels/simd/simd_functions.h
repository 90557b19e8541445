// More functions of float32 and float64 lanes: exponentials, remainders, logarithms to other bases,
// trigonometric and hyperbolic functions. The rules at the top of simd_math.h also apply here.
//
// Trigonometric functions and their inverses use Highway's functions. For the few arguments where
// Highway is not accurate, the C library is called.

#if defined(TEND_CORE_KERNELS_SIMD_FUNCTIONS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_FUNCTIONS_H
#undef TEND_CORE_KERNELS_SIMD_FUNCTIONS_H
#else
#define TEND_CORE_KERNELS_SIMD_FUNCTIONS_H
#endif

#include <cmath>

#include <hwy/contrib/math/math-inl.h>
#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

/// `result` in the lanes where `usual` is true, and scalar(x...) in the other lanes.
template <class D, class V, class M, class F, class... X>
HWY_INLINE V with_exceptions(D d, M usual, V result, F scalar, X... x) {
  if (HWY_LIKELY(hn::AllTrue(d, usual))) return result;
  using T = hn::TFromD<D>;
  constexpr std::size_t kMost = hn::MaxLanes(D());
  HWY_ALIGN T results[kMost], is_usual[kMost];
  hn::Store(result, d, results);
  hn::Store(hn::IfThenElseZero(usual, hn::Set(d, T(1))), d, is_usual);
  struct Lanes {
    HWY_ALIGN T at[kMost];
  };
  const auto lanes_of = [d](V each) HWY_ATTR {
    Lanes lanes;
    hn::Store(each, d, lanes.at);
    return lanes;
  };
  const auto compute = [&](const auto&... lanes) HWY_ATTR {
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
      if (is_usual[i] == T(0)) results[i] = scalar(lanes.at[i]...);
    }
  };
  compute(lanes_of(x)...);
  return hn::Load(d, results);
}

/// 2^x, within 1.15 ulp.
template <class D, class V>
HWY_INLINE V exp2(D d, V x) {
  using T = hn::TFromD<D>;
  using Constants = ExpConstants<T>;
  constexpr T kLog2e = Constants::kLog2E;
  const V limited = bounded(d, x, Constants::kMin * kLog2e, Constants::kMax * kLog2e);
  const V rounder = hn::Set(d, Constants::kRounder + 2 * Constants::kBias);
  const V exponent = hn::Add(limited, rounder);
  const V rest = hn::Sub(limited, hn::Sub(exponent, rounder));
  const V r = hn::Mul(rest, hn::Set(d, T(0.6931471805599453)));
  const V square = hn::Mul(r, r);
  return scaled(d, hn::MulAdd(square, Constants::p(d, r, square), r), exponent);
}

/// e^x - 1 without cancellation, within 2.25 ulp.
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  using T = hn::TFromD<D>;
  using Constants = ExpConstants<T>;
  const hn::RebindToUnsigned<D> du;
  constexpr T kFar = 44;  // e^x - 1 rounds to e^x above kFar, and to -1 below -kFar
  V exponent;
  const V fraction = exp_fraction(d, bounded(d, x, -kFar, kFar), hn::Set(d, T(-0.0)),
                                  hn::Set(d, Constants::kRounder + Constants::kBias), exponent);
  const V factor =
      hn::BitCast(d, hn::ShiftLeft<Constants::kMantissaBits>(hn::BitCast(du, exponent)));
  const V near = hn::MulAdd(fraction, factor, hn::Sub(factor, hn::Set(d, T(1))));
  const V result = hn::IfThenElse(hn::Gt(x, hn::Set(d, kFar)), exp(d, x), near);
  return hn::CopySign(result, x);  // -0 stays -0
}

/// The logarithms to the bases 2 (within 1.9 ulp) and 10 (within 2 ulp). log2 of 2^n is exactly n.
template <class D, class V>
HWY_INLINE V log2(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kHigh = static_cast<T>(1.442695040888963407L);
  constexpr T kLow = static_cast<T>(1.442695040888963407L - static_cast<long double>(kHigh));
  return log_by(d, x, [d](V e, V f) HWY_ATTR {
    const V ln = log_of_parts(d, hn::Zero(d), f);
    return hn::MulAdd(ln, hn::Set(d, kHigh), hn::MulAdd(ln, hn::Set(d, kLow), e));
  });
}
template <class D, class V>
HWY_INLINE V log10(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr T kHigh = static_cast<T>(0.4342944819032518277L);
  constexpr T kLow = static_cast<T>(0.4342944819032518277L - static_cast<long double>(kHigh));
  // log10(2) in two parts; the first has so few bits that its product with e is exact.
  constexpr T kTwoHigh = sizeof(T) == 4 ? T(0x1.344p-2) : T(0x1.34413509f8p-2);
  constexpr T kTwoLow =
      static_cast<T>(0.3010299956639811952137L - static_cast<long double>(kTwoHigh));
  return log_by(d, x, [d](V e, V f) HWY_ATTR {
    const V ln = log_of_parts(d, hn::Zero(d), f);
    const V low = hn::MulAdd(ln, hn::Set(d, kLow), hn::Mul(e, hn::Set(d, kTwoLow)));
    return hn::MulAdd(e, hn::Set(d, kTwoHigh), hn::MulAdd(ln, hn::Set(d, kHigh), low));
  });
}

/// log(1 + x) without cancellation, within 1.5 ulp.
template <class D, class V>
HWY_INLINE V log1p(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  const V y = hn::Add(x, one);
  // The part of 1 + x that is lost when y is rounded.
  const V lost =
      hn::IfThenElse(hn::Gt(x, one), hn::Sub(one, hn::Sub(y, x)), hn::Sub(x, hn::Sub(y, one)));
  const auto is_usual = hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, T(1e30))));
  const V correction = hn::IfThenElseZero(is_usual, hn::Div(lost, y));
  return hn::IfThenElse(hn::Eq(y, one), x, hn::Add(log(d, y), correction));
}

/// The sine (within 2.8 ulp), the cosine (within 2.75 ulp) and the tangent (within 4.25 ulp).
template <class D, class V>
HWY_INLINE auto is_small_angle(D d, V x) {
  return hn::Le(hn::Abs(x), hn::Set(d, hn::TFromD<D>(39000)));  // Highway's limit for its accuracy
}
template <class D, class V>
HWY_INLINE V sin(D d, V x) {
  using T = hn::TFromD<D>;
  const V result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, hn::Sin(d, x));  // -0 stays -0
  return with_exceptions(
      d, is_small_angle(d, x), result, [](T a) { return std::sin(a); }, x);
}
template <class D, class V>
HWY_INLINE V cos(D d, V x) {
  using T = hn::TFromD<D>;
  return with_exceptions(
      d, is_small_angle(d, x), hn::Cos(d, x), [](T a) { return std::cos(a); }, x);
}
template <class D, class V>
HWY_INLINE V tan(D d, V x) {
  using T = hn::TFromD<D>;
  const V slope = hn::Div(hn::Sin(d, x), hn::Cos(d, x));
  const V result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, slope);
  return with_exceptions(
      d, is_small_angle(d, x), result, [](T a) { return std::tan(a); }, x);
}

/// cosh(x) = (e^x + e^-x) / 2 (within 1.55 ulp) and sinh(x) = (e^x - e^-x) / 2 (within 2.5 ulp).
template <class D, class V>
HWY_INLINE V cosh(D d, V x) {
  using T = hn::TFromD<D>;
  const V half = exp_of_sum<-1>(d, hn::Abs(x), hn::Set(d, T(-0.0)));
  return hn::Add(half, hn::Div(hn::Set(d, T(0.25)), half));
}
template <class D, class V>
HWY_INLINE V sinh(D d, V x) {
  using T = hn::TFromD<D>;
  const V magnitude = hn::Abs(x);
  const V one = hn::Set(d, T(1));
  const V half = exp_of_sum<-1>(d, magnitude, hn::Set(d, T(-0.0)));
  const V large = hn::Sub(half, hn::Div(hn::Set(d, T(0.25)), half));
  const V m = expm1(d, bounded(d, magnitude, T(0), T(1)));
  const V small = hn::Mul(hn::Set(d, T(0.5)), hn::Add(m, hn::Div(m, hn::Add(m, one))));
  return hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, one), small, large), x);
}

/// The angle of the point (x, y) in radians, within 3.2 ulp.
template <class D, class V>
HWY_INLINE V atan2(D d, V y, V x) {
  using T = hn::TFromD<D>;
  using Limits = std::numeric_limits<T>;
  const V slope = hn::Div(y, x);
  const V steepness = hn::Abs(slope);
  const auto usual = hn::And(hn::Ge(steepness, hn::Set(d, Limits::min())),
                             hn::Le(steepness, hn::Set(d, Limits::max())));
  const V half_turn = hn::CopySign(hn::Set(d, T(3.141592653589793)), y);
  const V turn = hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), half_turn);
  return with_exceptions(
      d, usual, hn::Add(hn::Atan(d, slope), turn), [](T a, T b) { return std::atan2(a, b); }, y, x);
}

/// log(e^a + e^b) without overflow.
template <class D, class V>
HWY_INLINE V logaddexp(D d, V a, V b) {
  using T = hn::TFromD<D>;
  const V larger = hn::IfThenElse(hn::Gt(a, b), a, b);
  const V rest = log1p(d, exp(d, hn::Neg(hn::Abs(hn::Sub(a, b)))));
  // The result for a = b, also for infinities, whose difference is NaN.
  const V twice = hn::Add(a, hn::Set(d, T(0.6931471805599453)));
  return hn::IfThenElse(hn::Eq(a, b), twice, hn::Add(larger, rest));
}

/// a log(b); 0 where a is 0, unless b is NaN.
template <class D, class V>
HWY_INLINE V xlogy(D d, V a, V b) {
  const auto is_zero = hn::And(hn::Eq(a, hn::Zero(d)), hn::Eq(b, b));
  return hn::IfThenZeroElse(is_zero, hn::Mul(a, log(d, b)));
}

/// The remainder of a / b with the sign of a, exactly.
template <class D, class V>
HWY_INLINE V fmod(D d, V a, V b) {
  using T = hn::TFromD<D>;
  const V q = hn::Trunc(hn::Div(a, b));
#if !HWY_NATIVE_FMA
  const auto usual = hn::Lt(q, q);  // false: without FMA the product below would be rounded
#else
  const V most = hn::Set(d, T(0.25) / std::numeric_limits<T>::epsilon());
  const auto usual = hn::And(hn::And(hn::Lt(hn::Abs(q), most), hn::Ne(b, hn::Zero(d))),
                             hn::Lt(hn::Abs(b), hn::Set(d, std::numeric_limits<T>::max())));
#endif
  V left = hn::NegMulAdd(q, b, a);
  // The quotient may have been rounded to the next whole number.
  const auto overshot = hn::Lt(hn::Mul(left, hn::CopySign(hn::Set(d, T(1)), a)), hn::Zero(d));
  left = hn::IfThenElse(overshot, hn::Add(left, hn::CopySign(b, a)), left);
  return with_exceptions(
      d, usual, hn::CopySign(left, a), [](T x, T y) { return std::fmod(x, y); }, a, b);
}

/// True if the remainder `left` is not 0 and its sign differs from the sign of the divisor b.
template <class D, class V>
HWY_INLINE auto has_other_sign(D d, V left, V b) {
  const V zero = hn::Zero(d);
  return hn::Or(hn::And(hn::Lt(left, zero), hn::Ge(b, zero)),
                hn::And(hn::Gt(left, zero), hn::Lt(b, zero)));
}

/// The remainder of a / b with the sign of b.
template <class D, class V>
HWY_INLINE V remainder(D d, V a, V b) {
  const V left = fmod(d, a, b);
  return hn::IfThenElse(has_other_sign(d, left, b), hn::Add(left, b), left);
}

/// floor(a / b), computed from the remainder as in PyTorch.
///
/// `a - left` is a multiple of b, except for rounding errors, which the last step removes.
template <class D, class V>
HWY_INLINE V floor_divide(D d, V a, V b) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d), one = hn::Set(d, T(1)), plain = hn::Div(a, b);
  const V left = fmod(d, a, b);
  V quotient = hn::Div(hn::Sub(a, left), b);
  quotient = hn::IfThenElse(has_other_sign(d, left, b), hn::Sub(quotient, one), quotient);
  const V down = hn::Floor(quotient);
  const auto is_nearer_above = hn::Gt(hn::Sub(quotient, down), hn::Set(d, T(0.5)));
  const V whole = hn::IfThenElse(is_nearer_above, hn::Add(down, one), down);
  const V rounded = hn::IfThenElse(hn::Eq(quotient, zero), hn::CopySign(zero, plain), whole);
  return hn::IfThenElse(hn::Eq(b, zero), plain, rounded);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
