// Functions of float32 lanes, written once and compiled for every SIMD target that Highway offers;
// exp takes float64 lanes, too. f(d, x) takes and gives vectors of any tag d of that lane type.
// Included by kernel sources after <hwy/foreach_target.h>; not for others.
//
// The polynomials are minimax fits in relative error, made with the Remez algorithm; the comment
// at each gives interval and error. Errors of the functions are stated in math.h and tested there.

#if defined(TEND_CORE_KERNELS_SIMD_MATH_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_MATH_H
#undef TEND_CORE_KERNELS_SIMD_MATH_H
#else
#define TEND_CORE_KERNELS_SIMD_MATH_H
#endif

#include <hwy/highway.h>

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

/// x between the bounds; NaN stays NaN.
template <class D, class V>
HWY_INLINE V bounded(D d, V x, hn::TFromD<D> least, hn::TFromD<D> most) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  const V above = hn::IfThenElse(hn::Lt(x, hn::Set(d, least)), hn::Set(d, least), x);
  return hn::IfThenElse(hn::Gt(above, hn::Set(d, most)), hn::Set(d, most), above);
#else
  // Given one NaN, x86 returns the second operand and others NaN.
  return hn::Min(hn::Set(d, most), hn::Max(hn::Set(d, least), x));
#endif
}

/// The constants of exp in T: x = n ln 2 + r, and e^r = 1 + r + r^2 p(r) on [-0.3473, 0.3473].
template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float least = -105.0f, most = 90.0f;  // e^x is 0 and infinite there
  static constexpr float log2_e = 1.44269504f;
  // ln 2 in two parts; the first has so few bits that its product with n is exact.
  static constexpr float high = 0.693359375f, low = -2.12194440e-4f;
  static constexpr int mantissa_bits = 23;
  // Added to a small number it rounds that to an integer n, and leaves n + 254 in the low bits.
  static constexpr float rounder = 0x1.8p23f + 254;
  template <class D, class V>
  static HWY_INLINE V p(D d, V r) {  // 2^-28
    return polynomial(d, r, 0.5f, 0.16666533f, 0.041667245f, 0.008367566f, 0.0013863399f);
  }
};

template <>
struct ExpConstants<double> {
  static constexpr double least = -750.0, most = 715.0;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double high = 0.6931471803691238, low = 1.9082149292705877e-10;
  static constexpr int mantissa_bits = 52;
  static constexpr double rounder = 0x1.8p52 + 2046;
  template <class D, class V>
  static HWY_INLINE V p(D d, V r) {  // 2^-56
    return polynomial(d, r, 0.5000000000000011, 0.16666666666666413, 0.04166666666652983,
                      0.008333333333492938, 0.0013888888943724852, 0.00019841269510587086,
                      2.4801492993677188e-05, 2.7557582168030817e-06, 2.7630288221623944e-07,
                      2.5001588579193336e-08);
  }
};

/// e^(x + low) for a `low` of at most 0.03, and 0 where x is below the least that counts.
template <class D, class V>
HWY_INLINE V exp_of_sum(D d, V x, V low) {
  using Constants = ExpConstants<hn::TFromD<D>>;
  constexpr int kBits = Constants::mantissa_bits;
  const hn::RebindToUnsigned<D> du;
  x = bounded(d, x, Constants::least, Constants::most);
  const V rounder = hn::Set(d, Constants::rounder);
  const V rounded = hn::MulAdd(x, hn::Set(d, Constants::log2_e), rounder);
  const V n = hn::Sub(rounded, rounder);
  V r = hn::NegMulAdd(n, hn::Set(d, Constants::high), x);
  r = hn::Add(hn::NegMulAdd(n, hn::Set(d, Constants::low), r), low);
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const V mantissa = hn::Add(one, hn::MulAdd(hn::Mul(r, r), Constants::p(d, r), r));
  // 2^n as two factors, which do not overflow; results below the normal numbers are rounded once.
  const auto bits = hn::BitCast(du, rounded);
  const auto half = hn::ShiftRight<1>(bits);
  const V first = hn::BitCast(d, hn::ShiftLeft<kBits>(half));
  const V second = hn::BitCast(d, hn::ShiftLeft<kBits>(hn::Sub(bits, half)));
  return hn::Mul(hn::Mul(mantissa, first), second);
}

/// e^x of float or double lanes. The largest error on any target is 1.05 ulp; NaN, infinities,
/// overflow and results below the normal numbers are as in C.
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  return exp_of_sum(d, x, hn::Set(d, hn::TFromD<D>(-0.0)));  // which compilers know to add nothing
}

template <class D, class V>
HWY_INLINE V log(D d, V x) {
  const hn::Repartition<std::int32_t, D> di;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
  // normal = 2^e m, m in [sqrt(1/2), sqrt(2)): the bits of sqrt(1/2) are 3f3504f3.
  const auto bits = hn::BitCast(di, normal);
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const V steps = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(subnormal, hn::Set(d, 23.0f)));
  // log(1 + f) = f - f^2 / 2 + f^3 p(f) on that interval: 2^-30
  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  const V square = hn::Mul(f, f);
  const V p = polynomial(d, f, 0.3333331f, -0.24999987f, 0.20002218f, -0.16669248f, 0.142188f,
                         -0.12384458f, 0.11872145f, -0.11788941f, 0.069160834f);
  V small = hn::MulAdd(steps, hn::Set(d, -2.12194440e-4f), hn::Mul(hn::Mul(square, f), p));
  small = hn::NegMulAdd(square, hn::Set(d, 0.5f), small);
  V result = hn::MulAdd(steps, hn::Set(d, 0.693359375f), hn::Add(f, small));
  result = hn::IfThenElse(hn::Lt(x, hn::Set(d, kInfinity)), result, x);  // +inf and NaN
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, -kInfinity), result);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()),
                        result);
}

template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V magnitude = hn::Abs(x);
  // x + x^3 p(x^2) up to 0.625: 2^-27. Beyond, 1 - 2 / (e^2|x| + 1).
  const V square = hn::Mul(x, x);
  const V p =
      polynomial(d, square, -0.33333284f, 0.13331465f, -0.05374135f, 0.020643663f, -0.005709493f);
  const V small = hn::MulAdd(hn::Mul(square, x), p, x);
  const V e = exp(d, hn::Add(magnitude, magnitude));
  const V large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  // The sign of the small branch is lost for -0 alone.
  return hn::CopySign(hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, large), x);
}

template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp(d, hn::Neg(hn::Abs(x)));  // never overflows
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// Of x sigmoid(x): s (1 + x (1 - s))
template <class D, class V>
HWY_INLINE V silu_derivative(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V er = hn::Mul(e, r);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V s = hn::IfThenElse(negative, er, r);
  const V rest = hn::IfThenElse(negative, r, er);  // 1 - s, without its cancellation
  return hn::Mul(s, hn::MulAdd(x, rest, one));
}

/// e^(-t^2 / 2) for t in [0, 16]
template <class D, class V>
HWY_INLINE V gaussian(D d, V t) {
  const hn::Repartition<std::uint32_t, D> du;
  // The square of the upper 12 bits is exact, so that its rounding does not grow with t.
  const V high = hn::BitCast(d, hn::And(hn::BitCast(du, t), hn::Set(du, 0xfffff000u)));
  const V minus_half = hn::Set(d, -0.5f);
  return exp_of_sum(d, hn::Mul(minus_half, hn::Mul(high, high)),
                    hn::Mul(minus_half, hn::Mul(hn::Sub(t, high), hn::Add(t, high))));
}

/// The normal distribution's mass above t in [0, 16], given gaussian(t)
template <class D, class V>
HWY_INLINE V normal_tail(D d, V t, V gauss) {
  // tail(t) e^(t^2 / 2) (t + 3.5) as a polynomial in (t - 3.5) / (t + 3.5), t up to 14.5: 2^-27
  const V centre = hn::Set(d, 3.5f);
  const V scale = hn::Div(hn::Set(d, 1.0f), hn::Add(t, centre));
  const V p = polynomial(d, hn::Mul(hn::Sub(t, centre), scale), 0.74441606f, -0.5655618f,
                         0.31542504f, -0.11605304f, 0.017406378f, 0.006493116f, -0.003175308f,
                         -0.00049494265f, 0.00042189474f, 0.000110687426f);
  return hn::Mul(hn::Mul(gauss, scale), p);
}

template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  const V magnitude = hn::Abs(x);
  // x + x p(x^2) up to 0.92: 2^-31. Beyond, from the tail, erf(x) = 1 - 2 tail(sqrt(2) x).
  const V square = hn::Mul(x, x);
  const V p = polynomial(d, square, 0.12837917f, -0.37612635f, 0.11283697f, -0.0268595f,
                         0.005201286f, -0.00081455975f, 8.38239e-05f);
  const V small = hn::MulAdd(x, p, x);
  const V t = hn::Min(hn::Mul(magnitude, hn::Set(d, 1.41421356f)), hn::Set(d, 16.0f));
  const V large =
      hn::NegMulAdd(hn::Set(d, 2.0f), normal_tail(d, t, gaussian(d, t)), hn::Set(d, 1.0f));
  return hn::IfThenElse(hn::Ge(magnitude, hn::Set(d, 0.92f)), hn::CopySign(large, x), small);
}

/// The normal distribution function and, in `gauss`, e^(-x^2 / 2)
template <class D, class V>
HWY_INLINE V normal_mass(D d, V x, V& gauss) {
  const V t = hn::Min(hn::Abs(x), hn::Set(d, 16.0f));
  gauss = gaussian(d, t);
  const V tail = normal_tail(d, t, gauss);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  V gauss;
  return hn::Mul(x, normal_mass(d, x, gauss));
}

template <class D, class V>
HWY_INLINE V gelu_derivative(D d, V x) {
  V gauss;
  const V mass = normal_mass(d, x, gauss);
  return hn::MulAdd(x, hn::Mul(gauss, hn::Set(d, 0.398942280f)), mass);  // 1 / sqrt(2 pi)
}

// The approximation is x sigmoid(z), z = sqrt(8 / pi) (x + 0.044715 x^3): as (1 + tanh(z / 2)) / 2,
// without its cancellation.

template <class D, class V>
HWY_INLINE V gelu_tanh(D d, V x) {
  const V z = hn::Mul(x, polynomial(d, hn::Mul(x, x), 1.59576912f, 0.0713548163f));
  return hn::Mul(x, sigmoid(d, z));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_derivative(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  // From |x| = 16 on the second term is 0; without the bound it would be 0 times infinity.
  const V square = hn::Min(hn::Mul(x, x), hn::Set(d, 256.0f));
  const V z = hn::Mul(x, polynomial(d, square, 1.59576912f, 0.0713548163f));
  const V slope = polynomial(d, square, 1.59576912f, 0.214064449f);
  const V e = exp(d, hn::Neg(hn::Abs(z)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V er = hn::Mul(e, r);
  const V s = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), er, r);  // s (1 - s) is er r on both sides
  return hn::MulAdd(x, hn::Mul(hn::Mul(er, r), slope), s);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
