// Functions of float32 and float64 lanes, written once and compiled for every SIMD target that
// Highway offers. f(d, x) accepts and returns vectors of any tag d of either lane type. Only kernel
// sources include this file, after <hwy/foreach_target.h>.
//
// The polynomials are minimax fits in relative error, made with the Remez algorithm. The comment at
// each polynomial states the interval and the relative error, for example 2^-28. math.h states the
// errors of the functions.

#if defined(TEND_CORE_KERNELS_SIMD_MATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_MATH_H
#undef TEND_CORE_KERNELS_SIMD_MATH_H
#else
#define TEND_CORE_KERNELS_SIMD_MATH_H
#endif

#include <hwy/highway.h>

#include <concepts>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// c0 + x (c1 + x (c2 + ...))
template <class D, class V>
HWY_INLINE V polynomial(D d, V, hn::TFromD<D> c0) {
  return hn::Set(d, c0);
}
template <class D, class V, class... Rest>
HWY_INLINE V polynomial(D d, V x, hn::TFromD<D> c0, Rest... rest) {
  return hn::MulAdd(x, polynomial(d, x, rest...), hn::Set(d, c0));
}

// True if Max and Min return the second of two lanes when one of them is NaN, as on x86. On other
// targets they return the number.
inline constexpr bool kReturnsSecond =
    HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

/// The larger of x and a bound; NaN stays NaN.
template <class D, class V>
HWY_INLINE V at_least(D d, V x, hn::TFromD<D> min) {
  const V bound = hn::Set(d, min);
  if constexpr (kReturnsSecond) return hn::Max(bound, x);
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}

/// The smaller of x and a bound; NaN stays NaN.
template <class D, class V>
HWY_INLINE V at_most(D d, V x, hn::TFromD<D> max) {
  const V bound = hn::Set(d, max);
  if constexpr (kReturnsSecond) return hn::Min(bound, x);
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}

/// x clamped to the bounds; NaN stays NaN.
template <class D, class V>
HWY_INLINE V bounded(D d, V x, hn::TFromD<D> min, hn::TFromD<D> max) {
  return at_most(d, at_least(d, x, min), max);
}

/// The constants of exp for the type T: x = n ln 2 + r, and e^r = 1 + r + r^2 p(r) for r in
/// [-0.3473, 0.3473].
template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kMin = -105.0f, kMax = 90.0f;  // e^x is 0 at kMin, infinite at kMax
  static constexpr float kMinExponent = -88.0f;         // here n is -127, the exponent of zero
  static constexpr float kMinNormal = -87.33f;          // e^x is normal for larger x

  static constexpr float kLog2E = 1.44269504f;
  // ln 2 in two parts; the first has so few bits that its product with n is exact.
  static constexpr float kHigh = 0.693359375f, kLow = -2.12194440e-4f;
  static constexpr int kMantissaBits = 23;
  // Adding kRounder to a small number rounds it to an integer, which is then in the low bits.
  static constexpr float kRounder = 0x1.8p23f, kBias = 127;
  // Error 2^-28. Pairs of terms are computed independently, so that no pair waits for another.
  template <class D, class V>
  static HWY_INLINE V p(D d, V r, V square) {
    const V high_terms =
        hn::MulAdd(square, hn::Set(d, 0.0013863399f), polynomial(d, r, 0.041667245f, 0.008367566f));
    return hn::MulAdd(square, high_terms, polynomial(d, r, 0.5f, 0.16666533f));
  }
};

template <>
struct ExpConstants<double> {
  static constexpr double kMin = -750.0, kMax = 715.0;
  static constexpr double kMinExponent = -709.0;
  static constexpr double kMinNormal = -708.39;

  static constexpr double kLog2E = 1.4426950408889634;
  static constexpr double kHigh = 0.6931471803691238, kLow = 1.9082149292705877e-10;
  static constexpr int kMantissaBits = 52;
  static constexpr double kRounder = 0x1.8p52, kBias = 1023;
  template <class D, class V>
  static HWY_INLINE V p(D d, V r, V square) {  // 2^-56
    const V first = polynomial(d, r, 0.5000000000000011, 0.16666666666666413);
    const V second = polynomial(d, r, 0.04166666666652983, 0.008333333333492938);
    const V third = polynomial(d, r, 0.0013888888943724852, 0.00019841269510587086);
    const V fourth = polynomial(d, r, 2.4801492993677188e-05, 2.7557582168030817e-06);
    const V fifth = polynomial(d, r, 2.7630288221623944e-07, 2.5001588579193336e-08);
    const V fourth_power = hn::Mul(square, square);
    const V high_terms = hn::MulAdd(fourth_power, fifth, hn::MulAdd(square, fourth, third));
    return hn::MulAdd(fourth_power, high_terms, hn::MulAdd(square, second, first));
  }
};

/// The fraction in e^(x + low) = (1 + fraction) 2^n, for |low| up to 0.03. The low bits of
/// `exponent` are set to the sum of n and the low bits of `rounder`.
template <class D, class V>
HWY_INLINE V exp_fraction(D d, V x, V low, V rounder, V& exponent) {
  using Constants = ExpConstants<hn::TFromD<D>>;
  exponent = hn::MulAdd(x, hn::Set(d, Constants::kLog2E), rounder);
  const V n = hn::Sub(exponent, rounder);
  V r = hn::NegMulAdd(n, hn::Set(d, Constants::kHigh), x);
  r = hn::Add(hn::NegMulAdd(n, hn::Set(d, Constants::kLow), r), low);
  const V square = hn::Mul(r, r);
  return hn::MulAdd(square, Constants::p(d, r, square), r);
}

/// (1 + fraction) 2^n. The low bits of `exponent` must be n plus twice the bias.
template <class D, class V>
HWY_INLINE V scaled(D d, V fraction, V exponent) {
  constexpr int kBits = ExpConstants<hn::TFromD<D>>::kMantissaBits;
  const hn::RebindToUnsigned<D> du;
  // 2^n is split into two factors, which do not overflow. So subnormal results are rounded once.
  const auto bits = hn::BitCast(du, exponent);
  const auto half = hn::ShiftRight<1>(bits);
  const V first = hn::BitCast(d, hn::ShiftLeft<kBits>(half));
  const V second = hn::BitCast(d, hn::ShiftLeft<kBits>(hn::Sub(bits, half)));
  return hn::Mul(hn::MulAdd(fraction, first, first), second);
}

/// e^(x + low) 2^kDoublings
template <int kDoublings = 0, class D, class V>
HWY_INLINE V exp_of_sum(D d, V x, V low) {
  using Constants = ExpConstants<hn::TFromD<D>>;
  constexpr auto kRounder = Constants::kRounder + 2 * Constants::kBias + kDoublings;
  V exponent;
  const V fraction = exp_fraction(d, bounded(d, x, Constants::kMin, Constants::kMax), low,
                                  hn::Set(d, kRounder), exponent);
  return scaled(d, fraction, exponent);
}

/// e^x of float or double lanes. The largest error on any target is 1.05 ulp. NaN, infinities,
/// overflow and subnormal results are as in C.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  return exp_of_sum(d, x, hn::Set(d, hn::TFromD<D>(-0.0)));  // compilers omit the addition of -0
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// AVX-512 can look up one of sixteen numbers for each lane, so that a shorter polynomial suffices.

/// The bits of 2^(j / 16) minus j << 19, for j in the low four bits of each lane.
HWY_INLINE __m512i bits_of_root(__m512i j) {
  alignas(64) static constexpr std::uint32_t kBits[16] = {
      0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
      0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
      0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
  return _mm512_permutexvar_epi32(j, _mm512_load_si512(kBits));
}
HWY_INLINE hn::Vec512<std::uint32_t> bits_of_root(hn::Vec512<std::uint32_t> j) {
  return hn::Vec512<std::uint32_t>{bits_of_root(j.raw)};
}
template <std::size_t kLanes>
HWY_INLINE hn::Vec128<std::uint32_t, kLanes> bits_of_root(hn::Vec128<std::uint32_t, kLanes> j) {
  return hn::Vec128<std::uint32_t, kLanes>{
      _mm512_castsi512_si128(bits_of_root(_mm512_zextsi128_si512(j.raw)))};
}

/// exp_of_normal_result for float lanes: x = k ln 2 / 16 + r.
template <class D, class V>
HWY_INLINE V exp_by_table(D d, V x) {
  using Constants = ExpConstants<float>;
  constexpr float kMin = -88.03f;  // here k is 16 * -127, so n is the exponent of zero
  const hn::RebindToUnsigned<D> du;
  const V bounded_x = at_least(d, x, kMin), rounder = hn::Set(d, Constants::kRounder);
  const V sum = hn::MulAdd(bounded_x, hn::Set(d, 16 * Constants::kLog2E), rounder);
  const V k = hn::Sub(sum, rounder);
  V r = hn::NegMulAdd(k, hn::Set(d, Constants::kHigh / 16), bounded_x);
  r = hn::NegMulAdd(k, hn::Set(d, Constants::kLow / 16), r);
  // e^r - 1 for r in [-0.0217, 0.0217]: 2^-29
  const V fraction = hn::MulAdd(hn::Mul(r, r), polynomial(d, r, 0.5000162f, 0.16666f), r);
  const auto bits = hn::BitCast(du, sum);  // the low bits are k = 16 n + j
  const V factor = hn::BitCast(d, hn::Add(bits_of_root(bits), hn::ShiftLeft<19>(bits)));
  return hn::MulAdd(fraction, factor, factor);
}
#endif

/// As exp_not_positive, but subnormal results are inexact and may be zero.
template <class D, class V>
HWY_INLINE V exp_of_normal_result(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (std::same_as<hn::TFromD<D>, float>) return exp_by_table(d, x);
#endif
  using Constants = ExpConstants<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  V exponent;
  const V fraction =
      exp_fraction(d, at_least(d, x, Constants::kMinExponent), hn::Set(d, hn::TFromD<D>(-0.0)),
                   hn::Set(d, Constants::kRounder + Constants::kBias), exponent);
  const V factor =
      hn::BitCast(d, hn::ShiftLeft<Constants::kMantissaBits>(hn::BitCast(du, exponent)));
  return hn::MulAdd(fraction, factor, factor);
}

/// exp(d, x) in fewer steps, for lanes that are NaN or not positive (or only slightly positive).
///
/// Subnormal results are replaced by zero: a product with a subnormal number takes processors a
/// hundred cycles, and an attention weight is a factor in many products.
template <class D, class V>
HWY_INLINE V exp_not_positive(D d, V x) {
  constexpr auto kMin = ExpConstants<hn::TFromD<D>>::kMinNormal;
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kMin)), exp_of_normal_result(d, x));
}

/// log(2^e (1 + f)) for 1 + f between sqrt(1/2) and sqrt(2).
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
float > HWY_INLINE V log_of_parts(D d, V e, V f) {
  // log(1 + f) = f - f^2 / 2 + f^3 p(f): 2^-30
  const V square = hn::Mul(f, f);
  const V p = polynomial(d, f, 0.3333331f, -0.24999987f, 0.20002218f, -0.16669248f, 0.142188f,
                         -0.12384458f, 0.11872145f, -0.11788941f, 0.069160834f);
  V small = hn::MulAdd(e, hn::Set(d, ExpConstants<float>::kLow), hn::Mul(hn::Mul(square, f), p));
  small = hn::NegMulAdd(square, hn::Set(d, 0.5f), small);
  return hn::MulAdd(e, hn::Set(d, ExpConstants<float>::kHigh), hn::Add(f, small));
}
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
double > HWY_INLINE V log_of_parts(D d, V e, V f) {
  // log(1 + f) = 2 s + s z p(z) with s = f / (2 + f), z = s^2: 2^-58. 2 s = f - s f.
  // The remaining terms are added to f - f^2 / 2, which is exact enough.
  const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const V z = hn::Mul(s, s);
  const V p =
      polynomial(d, z, 0.6666666666666734, 0.39999999999413605, 0.2857142874264964,
                 0.2222219854406772, 0.18183565948517041, 0.1531400638937581, 0.14796416980282492);
  const V half = hn::Mul(hn::Mul(f, f), hn::Set(d, 0.5));
  const V low = hn::Mul(e, hn::Set(d, ExpConstants<double>::kLow));
  const V small = hn::Sub(half, hn::MulAdd(s, hn::MulAdd(z, p, half), low));
  return hn::MulAdd(e, hn::Set(d, ExpConstants<double>::kHigh), hn::Sub(f, small));
}

/// A logarithm of float or double lanes, to any base. of_parts(e, f) computes the logarithm of
/// 2^e (1 + f).
///
/// Zero, negative numbers, infinity, NaN and subnormal numbers are as in C.
template <class D, class V, class F>
HWY_INLINE V log_by(D d, V x, F of_parts) {
  using T = hn::TFromD<D>;
  using Limits = std::numeric_limits<T>;
  constexpr int kBits = ExpConstants<T>::kMantissaBits;
  const hn::RebindToSigned<D> di;
  const auto subnormal = hn::Lt(x, hn::Set(d, Limits::min()));
  const T raise = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, raise)), x);
  // normal = 2^e m, m in [sqrt(1/2), sqrt(2))
  const auto bits = hn::BitCast(di, normal);
  const auto root_half = hn::BitCast(di, hn::Set(d, T(0.70710678118654752440)));
  const auto e = hn::ShiftRight<kBits>(hn::Sub(bits, root_half));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<kBits>(e)));
  const V steps = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(subnormal, hn::Set(d, T(kBits))));
  V result = of_parts(steps, hn::Sub(m, hn::Set(d, T(1))));
  result = hn::IfThenElse(hn::Lt(x, hn::Set(d, Limits::infinity())), result, x);  // +inf and NaN
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -Limits::infinity()), result);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, Limits::quiet_NaN()), result);
}

/// The natural logarithm, within 0.85 ulp.
template <class D, class V>
HWY_INLINE V log(D d, V x) {
  return log_by(d, x, [d](V e, V f) HWY_ATTR { return log_of_parts(d, e, f); });
}

/// tanh of float or double lanes, within 2.75 ulp. NaN, infinities and -0 are as in C.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  using T = hn::TFromD<D>;
  using Constants = ExpConstants<T>;
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, T(1));
  // m = e^2|x| - 1 = 2^n fraction + (2^n - 1), without cancellation. For |x| >= 22, tanh is 1.
  const V magnitude = bounded(d, hn::Abs(x), T(0), T(22));
  V exponent;
  const V fraction = exp_fraction(d, hn::Add(magnitude, magnitude), hn::Set(d, T(-0.0)),
                                  hn::Set(d, Constants::kRounder + Constants::kBias), exponent);
  const V factor =
      hn::BitCast(d, hn::ShiftLeft<Constants::kMantissaBits>(hn::BitCast(du, exponent)));
  const V m = hn::MulAdd(fraction, factor, hn::Sub(factor, one));
  return hn::CopySign(hn::Div(m, hn::Add(m, hn::Set(d, T(2)))), x);
}

/// 1 / (1 + e^-x) of float or double lanes, within 2.45 ulp.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V e = exp(d, hn::Neg(hn::Abs(x)));  // never overflows
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// The derivative of silu(x) = x sigmoid(x): s (1 + x (1 - s)) with s = sigmoid(x).
template <class D, class V>
HWY_INLINE V silu_derivative(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V er = hn::Mul(e, r);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V s = hn::IfThenElse(negative, er, r);
  const V rest = hn::IfThenElse(negative, r, er);  // 1 - s, without cancellation
  return hn::Mul(s, hn::MulAdd(x, rest, one));
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
