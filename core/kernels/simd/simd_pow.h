// Powers of float64 lanes, and of float32 lanes that are computed in float64. The rules at the top
// of simd_math.h also apply here.

#if defined(TEND_CORE_KERNELS_SIMD_POW_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_POW_H
#undef TEND_CORE_KERNELS_SIMD_POW_H
#else
#define TEND_CORE_KERNELS_SIMD_POW_H
#endif

#include <cmath>

#include <tend/core/kernels/simd/simd_functions.h>
#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

using Sixteen = double[16];

/// table[i] for each lane, where i is the low four bits of the lane of `index`.
template <class D, class I>
HWY_INLINE hn::Vec<D> chosen_of_sixteen(D d, const Sixteen& table, I index) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 8) {
    return hn::Vec<D>{
        _mm512_permutex2var_pd(_mm512_load_pd(table), index.raw, _mm512_load_pd(table + 8))};
  }
#endif
  const hn::RebindToSigned<D> di;
  return hn::GatherIndex(d, table, hn::And(index, hn::Set(di, 15)));
}

/// The parts of x = 2^exponent (1 + rest + rounding) / c, where |rest| is at most 0.0298 and c is 1
/// if x is near 1.
///
/// log_high + log_low is -log(c). log_high has so few bits that its sum with the exponent times the
/// high part of ln 2 is exact.
template <class V>
struct LogParts {
  V exponent, rest, rounding, log_high, log_low;
};

/// Computes the LogParts of x. x must be positive and normal.
template <class D, class V>
HWY_INLINE LogParts<V> log_parts(D d, V x) {
  alignas(64) static constexpr Sixteen kFactor = {1.4014596939086914, 1.3426580429077148,
                                                  1.288590431213379,  1.2387094497680664,
                                                  1.1925468444824219, 1.1497011184692383,
                                                  1.1098270416259766, 1.0726261138916016,
                                                  1.0378379821777344, 1.0,
                                                  0.950495719909668,  0.8971967697143555,
                                                  0.8495578765869141, 0.8067226409912109,
                                                  0.768000602722168,  0.7328243255615234};
  alignas(64) static constexpr Sixteen kHigh = {-0.3375143319574363,   -0.29465126330842395,
                                                -0.25354893197186357,  -0.21407007132756917,
                                                -0.17609122559360912,  -0.13950201161287623,
                                                -0.10420418482840432,  -0.07010995361724781,
                                                -0.037139686026876007, 0.0,
                                                0.050771620052046273,  0.10848007675008375,
                                                0.16303921001212984,   0.21477536124825747,
                                                0.2639647610403699,    0.310849270810877};
  alignas(64) static constexpr Sixteen kLow = {2.2010230907675372e-14,  4.389946043534606e-14,
                                               8.975442248701263e-16,   3.918471043232995e-14,
                                               -4.972210222014258e-14,  6.239655581436526e-14,
                                               7.870245464460547e-14,   1.052703501321651e-13,
                                               -7.552705776631151e-14,  0.0,
                                               -4.1640215599913406e-15, 2.113103357278353e-14,
                                               -5.189882566901583e-14,  8.223051572269307e-14,
                                               -8.662811761905988e-14,  -4.753466876310997e-14};
  const hn::RebindToSigned<D> di;
  // The binade that begins at 0.698 is divided into sixteen parts. So 1 is in the middle of a part.
  const auto start = hn::Set(di, 0x3fe6555500000000);
  const auto bits = hn::BitCast(di, x);
  const auto offset = hn::Sub(bits, start);
  const auto e = hn::ShiftRight<52>(offset);
  const auto index = hn::ShiftRight<48>(offset);
  const V mantissa = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e)));
  const V factor = chosen_of_sixteen(d, kFactor, index);
  const V product = hn::Mul(mantissa, factor);
  return {hn::ConvertTo(d, e), hn::Sub(product, hn::Set(d, 1.0)),
          hn::MulSub(mantissa, factor, product), chosen_of_sixteen(d, kHigh, index),
          chosen_of_sixteen(d, kLow, index)};
}

/// log(x) as high + low, with a relative error of 2^-64. x must be positive and normal.
template <class D, class V>
HWY_INLINE void log_in_two(D d, V x, V& high, V& low) {
  const LogParts<V> parts = log_parts(d, x);
  const V r = parts.rest;
  // log(1 + r) = r + r^2 w, w = -1/2 + r p(r): 2^-68. The rounding error of each sum and product is
  // computed, too; names that end in _rest contain it.
  const V p = polynomial(d, r, 0.3333333333333333, -0.24999999999999453, 0.19999999999998005,
                         -0.16666666671686575, 0.1428571429574845, -0.12499984686418997,
                         0.11111089439044845, -0.10019050122713483, 0.09112079625410709);
  const V square = hn::Mul(r, r), square_rest = hn::MulSub(r, r, square);
  const V minus_half = hn::Set(d, -0.5);
  const V w = hn::MulAdd(r, p, minus_half), w_rest = hn::MulAdd(r, p, hn::Sub(minus_half, w));
  const V bend = hn::Mul(square, w), bend_rest = hn::MulSub(square, w, bend);
  const V base =
      hn::MulAdd(parts.exponent, hn::Set(d, ExpConstants<double>::kHigh), parts.log_high);
  const V first = hn::Add(base, r), first_rest = hn::Add(hn::Sub(base, first), r);
  const V second = hn::Add(first, bend), second_rest = hn::Add(hn::Sub(first, second), bend);
  V rest = hn::MulAdd(parts.exponent, hn::Set(d, ExpConstants<double>::kLow), parts.log_low);
  rest = hn::Add(rest, hn::Add(first_rest, second_rest));
  rest = hn::Add(rest, hn::MulAdd(square, w_rest, hn::MulAdd(square_rest, w, bend_rest)));
  // parts.rounding changes the logarithm by rounding / (1 + r), which is computed as
  // rounding (1 - r) (1 + r^2).
  const V slope = hn::Sub(hn::Set(d, 1.0), r);
  rest = hn::MulAdd(parts.rounding, hn::MulAdd(square, slope, slope), rest);
  high = hn::Add(second, rest);
  low = hn::Add(hn::Sub(second, high), rest);
}

/// e^(x + low), within 0.75 ulp. |low| must be much smaller than |x|.
template <class D, class V>
HWY_INLINE V exp_of_two(D d, V x, V low) {
  using Constants = ExpConstants<double>;
  const V rounder = hn::Set(d, Constants::kRounder + 2 * Constants::kBias);
  const V limited = bounded(d, x, Constants::kMin, Constants::kMax);
  const V exponent = hn::MulAdd(limited, hn::Set(d, Constants::kLog2E), rounder);
  const V n = hn::Sub(exponent, rounder), one = hn::Set(d, 1.0);
  const V first = hn::NegMulAdd(n, hn::Set(d, Constants::kHigh), limited);
  const V second = hn::NegMulAdd(n, hn::Set(d, Constants::kLow), low);
  const V r = hn::Add(first, second), r_rest = hn::Add(hn::Sub(first, r), second);
  const V square = hn::Mul(r, r);
  const V more = hn::MulAdd(square, Constants::p(d, r, square), r_rest);
  const V sum = hn::Add(one, r), sum_rest = hn::Add(hn::Sub(one, sum), r);
  const V result = hn::Add(sum, hn::Add(sum_rest, more));
  return scaled(d, hn::Sub(result, one), exponent);
}

/// a^b for all a and b. `power` is |a|^b in lanes where |a| is neither 0 nor infinite.
template <class D, class V>
HWY_INLINE V power_with_sign(D d, V a, V b, V power) {
  const V one = hn::Set(d, 1.0), zero = hn::Zero(d), size = hn::Abs(a);
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto is_zero = hn::Eq(a, zero);
  const V growth = hn::IfThenElse(is_zero, hn::Neg(b), b);
  const V limit = hn::IfThenElseZero(hn::Gt(growth, zero), infinity);
  V result = hn::IfThenElse(hn::Or(is_zero, hn::Eq(size, infinity)), limit, power);
  result = hn::IfThenElse(hn::Eq(size, one), one, result);
  const V half = hn::Mul(b, hn::Set(d, 0.5));
  const auto is_whole = hn::Eq(hn::Round(b), b);
  const auto is_odd = hn::And(is_whole, hn::Ne(hn::Round(half), half));
  result = hn::IfThenElse(is_odd, hn::CopySign(result, a), result);
  const auto is_undefined =
      hn::And(hn::And(hn::Lt(a, zero), hn::Lt(size, infinity)), hn::Not(is_whole));
  const auto is_number = hn::And(hn::Eq(a, a), hn::Eq(b, b));
  const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  result = hn::IfThenElse(hn::Or(is_undefined, hn::Not(is_number)), nan, result);
  return hn::IfThenElse(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), one, result);
}

/// a^b of double lanes, with a relative error of about 1e-10. The result will be rounded to float.
template <class D, class V>
HWY_INLINE V pow_for_float(D d, V a, V b) {
  const V zero = hn::Zero(d);
  const LogParts<V> parts = log_parts(d, hn::Abs(a));
  const V r = parts.rest;
  // log(1 + r) = r + r^2 p(r): 2^-44
  const V p = polynomial(d, r, -0.5000000000096196, 0.33333333333448356, -0.24999991345343117,
                         0.19999996664759162, -0.1668613018335116, 0.14298135090969816);
  const V ln_two = hn::Set(d, 0.6931471805599453);
  const V log =
      hn::MulAdd(hn::Mul(r, r), p, hn::Add(hn::MulAdd(parts.exponent, ln_two, parts.log_high), r));
  const V x = hn::Mul(b, log);
  // e^x = 2^n (1 + s + s^2 q(s)): 2^-34
  const V rounder = hn::Set(d, ExpConstants<double>::kRounder + ExpConstants<double>::kBias);
  const V sum = hn::MulAdd(x, hn::Set(d, ExpConstants<double>::kLog2E), rounder);
  const V s = hn::NegMulAdd(hn::Sub(sum, rounder), ln_two, x);
  const V q = polynomial(d, s, 0.5000000077826898, 0.16666666862956647, 0.04166627013586948,
                         0.008333263930606618, 0.0013946061149835189, 0.00019918581522737565);
  const hn::RebindToUnsigned<D> du;
  const V factor = hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, sum)));
  const V power = hn::MulAdd(hn::MulAdd(hn::Mul(s, s), q, s), factor, factor);
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const V magnitude = hn::Abs(x);
  const auto is_normal = hn::Lt(magnitude, hn::Set(d, 87.0));
  const auto is_plain = hn::And(hn::Gt(a, zero), hn::Lt(a, infinity));
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(is_plain, is_normal)))) return power;
  const V far = hn::IfThenElseZero(hn::Gt(x, zero), infinity);
  const V result = power_with_sign(d, a, b, hn::IfThenElse(is_normal, power, far));
  // A power that is subnormal in float may be exactly halfway between two floats. Then an error
  // of 1e-10 could round it to the wrong float, so std::pow computes these powers.
  const auto is_far = hn::Not(hn::Le(magnitude, hn::Set(d, 105.0)));
  return with_exceptions(
      d, hn::Or(is_normal, is_far), result, [](double u, double v) { return std::pow(u, v); }, a,
      b);
}

/// a^b of double lanes, within 0.8 ulp.
template <class D, class V>
HWY_INLINE V pow(D d, V a, V b) {
  const auto scalar = [](double x, double y) { return std::pow(x, y); };
#if !HWY_NATIVE_FMA
  // Without FMA, the rounding errors of the products below cannot be computed. So std::pow computes
  // all lanes: hn::Lt(a, a) is false.
  return with_exceptions(d, hn::Lt(a, a), a, scalar, a, b);
#else
  const V size = hn::Abs(a);
  V high, low;
  log_in_two(d, size, high, low);
  const V x = hn::Mul(b, high);
  const auto is_finite = hn::Lt(hn::Abs(x), hn::Set(d, 1000.0));  // far beyond overflow
  const V rest = hn::MulAdd(b, low, hn::MulSub(b, high, x));
  const V power = exp_of_two(d, x, hn::IfThenElseZero(is_finite, rest));
  const V smallest = hn::Set(d, std::numeric_limits<double>::min());
  const V largest = hn::Set(d, std::numeric_limits<double>::max());
  const auto is_plain = hn::And(hn::Ge(a, smallest), hn::Le(a, largest));
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(is_plain, is_finite)))) return power;
  const auto usual = hn::Or(hn::Ge(size, smallest), hn::Not(hn::Gt(size, hn::Zero(d))));
  return with_exceptions(d, usual, power_with_sign(d, a, b, power), scalar, a, b);
#endif
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
