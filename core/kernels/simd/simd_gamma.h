// The gamma function and its relatives, for float64 lanes. Kernels compute them in float64 for
// float32, too. The rules at the top of simd_math.h also apply here.

#if defined(TEND_CORE_KERNELS_SIMD_GAMMA_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_GAMMA_H
#undef TEND_CORE_KERNELS_SIMD_GAMMA_H
#else
#define TEND_CORE_KERNELS_SIMD_GAMMA_H
#endif

#include <cstdint>
#include <limits>
#include <numbers>

#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_pow.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

/// sin(pi r) / pi for |r| up to 1/2.
template <class D, class V>
HWY_INLINE V sine_of_half_turns(D d, V r) {
  // 2^-61
  const V p = polynomial(d, hn::Mul(r, r), 1.0, -1.6449340668482262, 0.8117424252833373,
                         -0.19075182412143046, 0.026147847804529323, -0.002346080886822309,
                         0.0001484278008694523, -6.972000478175027e-06, 2.449307965465513e-07);
  return hn::Mul(r, p);
}

/// lgamma for lanes that are not negative.
template <class D, class V>
HWY_INLINE V lgamma_from_zero(D d, V x) {
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), two = hn::Set(d, 2.0);
  const auto is_large = hn::Ge(x, hn::Set(d, 8.0)), is_small = hn::Lt(x, hn::Set(d, 0.75));
  // z is reduced to the range from 0.75 to 2.5. gamma(x) is gamma(z) * product, or gamma(z) / x if
  // x is small.
  V z = hn::IfThenElse(is_small, hn::Add(x, one), hn::IfThenElse(is_large, two, x));
  V product = one;
  for (;;) {
    const auto is_above = hn::Ge(z, hn::Set(d, 2.5));
    if (hn::AllFalse(d, is_above)) break;
    z = hn::Sub(z, hn::IfThenElseZero(is_above, one));
    product = hn::IfThenElse(is_above, hn::Mul(product, z), product);
  }
  const V logarithm = log(d, hn::IfThenElse(hn::Or(is_large, is_small), x, product));
  // lgamma(z) = (z - 1) (z - 2) (1/2 + p(z - 1) / q(z - 1)): 2^-54
  const V u = hn::Sub(z, one), roots = hn::Mul(u, hn::Sub(z, two));
  const V p = polynomial(d, u, 0.07721566490153288, 0.016997934440980557, -0.3260005786304086,
                         -0.46758722485054516, -0.25784988695751326, -0.06297649237698437,
                         -0.006191491596459175, -0.00016852917518215838);
  const V q = polynomial(d, u, 1.0, 3.396322537635164, 4.5524170031174265, 3.0581996262024163,
                         1.080246489866419, 0.19226988863499958, 0.01491970176442055,
                         0.0003442317044787587);
  const V near = hn::MulAdd(roots, hn::Div(p, q), hn::Mul(roots, half));
  const V result = hn::Add(near, hn::IfThenElse(is_small, hn::Neg(logarithm), logarithm));
  if (hn::AllFalse(d, is_large)) return result;
  // Stirling's series. The sum of 1 / (12 x) and all later terms is s(1 / x^2) / x: 2^-64
  const V inverse = hn::Div(one, x);
  const V s = polynomial(d, hn::Mul(inverse, inverse), 0.08333333333333333, -0.0027777777777674476,
                         0.0007936507864180578, -0.0005952358551697864, 0.00084139247932114,
                         -0.0018864172481234706, 0.00498793230896638);
  const V rest = hn::MulAdd(inverse, s, hn::Set(d, 0.41893853320467274));  // log(2 pi / e) / 2
  const V far = hn::MulAdd(hn::Sub(x, half), hn::Sub(logarithm, one), rest);
  return hn::IfThenElse(is_large, far, result);
}

/// log(|gamma(x)|)
template <class D, class V>
HWY_INLINE V lgamma(D d, V x) {
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const V mirrored = hn::Sub(hn::Set(d, 1.0), x);
  const V result = lgamma_from_zero(d, hn::IfThenElse(is_negative, mirrored, x));
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return result;
  // gamma(x) gamma(1 - x) = pi / sin(pi x). The sine is computed from the distance to the nearest
  // integer.
  const V distance = hn::Sub(x, hn::Round(x));
  const V sine = hn::Abs(sine_of_half_turns(d, distance));
  const V reflected = hn::Neg(hn::Add(log(d, sine), result));
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto is_pole = hn::Not(hn::Gt(hn::Abs(distance), hn::Zero(d)));  // true for -infinity, too
  return hn::IfThenElse(is_negative, hn::IfThenElse(is_pole, infinity, reflected), result);
}

/// The derivative of lgamma.
template <class D, class V>
HWY_INLINE V digamma(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  V y = hn::IfThenElse(is_negative, hn::Sub(one, x), x);
  V result = hn::Zero(d);
  for (;;) {
    const auto is_below = hn::Lt(y, hn::Set(d, 8.0));
    if (hn::AllFalse(d, is_below)) break;
    result = hn::Sub(result, hn::IfThenElseZero(is_below, hn::Div(one, y)));
    y = hn::Add(y, hn::IfThenElseZero(is_below, one));
  }
  // log(y) - 1 / (2 y) - p(1 / y^2) / y^2: 2^-64
  const V inverse = hn::Div(one, y), square = hn::Mul(inverse, inverse);
  const V p = polynomial(d, square, 0.08333333333333316, -0.00833333333304094,
                         0.0039682538044038835, -0.004166622967814516, 0.0075694778331669025,
                         -0.020589007616138234, 0.061537379536771804);
  const V series = hn::MulAdd(square, p, hn::Mul(hn::Set(d, 0.5), inverse));
  result = hn::Add(result, hn::Sub(log(d, y), series));
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return result;
  // digamma(x) = digamma(1 - x) - pi / tan(pi x). The tangent is computed from the distance to the
  // nearest integer.
  const V distance = hn::Sub(x, hn::Round(x)), half = hn::Set(d, 0.5);
  const V cosine = sine_of_half_turns(d, hn::Sub(half, hn::Abs(distance)));
  const V tangent = hn::Div(sine_of_half_turns(d, distance), cosine);
  const V reflected = hn::Sub(result, hn::Div(hn::Set(d, std::numbers::pi), tangent));
  const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  const auto is_pole = hn::Eq(distance, hn::Zero(d));
  return hn::IfThenElse(is_negative, hn::IfThenElse(is_pole, nan, reflected), result);
}

/// x^-n for n >= 0.
template <class D, class V>
HWY_INLINE V negative_power(D d, V x, std::int64_t n) {
  if (n > 5) return pow(d, x, hn::Set(d, -static_cast<double>(n)));  // rounds only once
  V power = hn::Set(d, 1.0);
  for (std::int64_t k = 0; k < n; ++k) power = hn::Mul(power, x);
  return hn::Div(hn::Set(d, 1.0), power);
}

/// Hurwitz's zeta function: the sum of (x + k)^-s over all k >= 0, for s > 1. It is computed by the
/// Euler-Maclaurin formula.
template <class D, class V>
HWY_INLINE V hurwitz_zeta(D d, std::int64_t s, V x) {
  // The Bernoulli numbers B2, B4, ...
  constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), zero = hn::Zero(d);
  const auto is_pole = hn::And(hn::Le(x, zero), hn::Eq(x, hn::Floor(x)));
  const double order = static_cast<double>(s);
  V sum = zero;
  for (;;) {
    const auto is_below = hn::Lt(x, hn::Set(d, 12 + order));  // the series is exact for larger x
    if (hn::AllFalse(d, is_below)) break;
    sum = hn::Add(sum, hn::IfThenElseZero(is_below, negative_power(d, x, s)));
    x = hn::Add(x, hn::IfThenElseZero(is_below, one));
  }
  const V inverse = hn::Div(one, x), square = hn::Mul(inverse, inverse);
  // x^(1 - s) is computed in two steps, since x^(s - 1) may overflow.
  const V before = hn::Mul(negative_power(d, x, s - 2), inverse), power = hn::Mul(before, inverse);
  sum = hn::Add(sum, hn::MulAdd(before, hn::Set(d, 1 / (order - 1)), hn::Mul(power, half)));
  // The factor of Bernoulli number j is s (s + 1) ... (s + 2j) x^(-s - 2j - 1) / (2j + 2)!.
  V factor = hn::Mul(hn::Mul(power, inverse), hn::Set(d, order / 2));
  for (double n = order; const double bernoulli : kBernoulli) {
    sum = hn::MulAdd(factor, hn::Set(d, bernoulli), sum);
    const double j = n - order;
    factor = hn::Mul(factor, hn::Mul(square, hn::Set(d, (n + 1) * (n + 2) / ((j + 3) * (j + 4)))));
    n += 2;
  }
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  return hn::IfThenElse(is_pole, infinity, sum);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
