// The error function, the normal distribution function and gelu, for float32 and float64 lanes. The
// rules at the top of simd_math.h also apply here.

#if defined(TEND_CORE_KERNELS_SIMD_NORMAL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SIMD_NORMAL_H
#undef TEND_CORE_KERNELS_SIMD_NORMAL_H
#else
#define TEND_CORE_KERNELS_SIMD_NORMAL_H
#endif

#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

/// The constants of two formulas:
/// - erf(x) = x + x small(x^2) for |x| up to 0.92
/// - tail(t) = e^(-t^2 / 2) p(u) / (t + centre) with u = (t - centre) / (t + centre). This is the
///   normal distribution's probability of numbers above t.
template <class T>
struct NormalConstants;

template <>
struct NormalConstants<float> {
  static constexpr float kCentre = 3.5f, kMax = 16.0f;  // the tail is 0 for t >= kMax
  static constexpr std::uint32_t kHighBits = 0xfffff000u;
  template <class D, class V>
  static HWY_INLINE V small(D d, V square) {  // 2^-31
    return polynomial(d, square, 0.12837917f, -0.37612635f, 0.11283697f, -0.0268595f, 0.005201286f,
                      -0.00081455975f, 8.38239e-05f);
  }
  template <class D, class V>
  static HWY_INLINE V p(D d, V u) {  // 2^-27
    return polynomial(d, u, 0.74441606f, -0.5655618f, 0.31542504f, -0.11605304f, 0.017406378f,
                      0.006493116f, -0.003175308f, -0.00049494265f, 0.00042189474f,
                      0.000110687426f);
  }
};

template <>
struct NormalConstants<double> {
  static constexpr double kCentre = 5, kMax = 39;
  static constexpr std::uint64_t kHighBits = 0xfffffffff8000000u;
  template <class D, class V>
  static HWY_INLINE V small(D d, V square) {  // 2^-59
    return polynomial(d, square, 0.1283791670955126, -0.37612638903183715, 0.11283791670952936,
                      -0.02686617064465328, 0.005223977620036793, -0.0008548326661840874,
                      0.00012055317602962719, -1.4925218317648456e-05, 1.645397826682087e-06,
                      -1.626385418680077e-07, 1.3984382943239592e-08, -8.340788053823435e-10);
  }
  template <class D, class V>
  static HWY_INLINE V p(D d, V u) {  // 2^-56
    return polynomial(d, u, 0.769193049750063, -0.6653825028900566, 0.495305615969977,
                      -0.3135331566713157, 0.16502036617036153, -0.06911863870595196,
                      0.02079506680024272, -0.00299337677569623, -0.0007978694014832984,
                      0.0005448991058701106, -5.937571126391374e-05, -4.976301024178025e-05,
                      1.6681144775723438e-05, 3.981491236659661e-06, -2.769055081479577e-06,
                      -3.377431064739351e-07, 4.326862689564941e-07, 4.3612292201179584e-08,
                      -6.53197123277494e-08, -1.0210846758234465e-08, 7.181932554282661e-09,
                      2.0138969529175166e-09);
  }
};

/// e^(factor t^2) for t from 0 to kMax, where `factor` is -1/2. `factor` may also be -1 if t is up
/// to kMax / sqrt(2).
template <class D, class V>
HWY_INLINE V gaussian(D d, V t, hn::TFromD<D> factor = -0.5) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  // The square of the upper bits is exact, so the error does not grow with t.
  const auto upper = hn::Set(du, NormalConstants<T>::kHighBits);
  const V high = hn::BitCast(d, hn::And(hn::BitCast(du, t), upper));
  const V scale = hn::Set(d, factor);
  return exp_of_sum(d, hn::Mul(scale, hn::Mul(high, high)),
                    hn::Mul(scale, hn::Mul(hn::Sub(t, high), hn::Add(t, high))));
}

/// The normal distribution's probability of numbers above t, for t from 0 to kMax. `gauss` must be
/// gaussian(t).
template <class D, class V>
HWY_INLINE V normal_tail(D d, V t, V gauss) {
  using T = hn::TFromD<D>;
  const V centre = hn::Set(d, NormalConstants<T>::kCentre);
  const V scale = hn::Div(hn::Set(d, T(1)), hn::Add(t, centre));
  const V p = NormalConstants<T>::p(d, hn::Mul(hn::Sub(t, centre), scale));
  return hn::Mul(hn::Mul(gauss, scale), p);
}

/// 1 - erf(t) for t >= 0.92, with an error of about 2^-25.
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
float > HWY_INLINE V rest_of_erf(D d, V t) {
  // e^(-t p(t)) for t in [0.92, 4]: 2^-30. Above 4 the result is too small to change erf.
  const V x = hn::Min(t, hn::Set(d, 4.0f));
  const V p = polynomial(d, x, 1.1286521f, 0.63513595f, 0.10626308f, -0.023785284f, 0.0036537317f,
                         -0.0003256442f, 1.1521396e-05f);
  return exp_not_positive(d, hn::Neg(hn::Mul(x, p)));
}
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
double > HWY_INLINE V rest_of_erf(D d, V x) {
  // 2 tail(sqrt(2) x)
  const V t = hn::Min(hn::Mul(x, hn::Set(d, 1.4142135623730951)),
                      hn::Set(d, NormalConstants<double>::kMax));
  return hn::Mul(hn::Set(d, 2.0), normal_tail(d, t, gaussian(d, t)));
}

/// erf of float or double lanes, within 1.9 ulp.
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  using T = hn::TFromD<D>;
  const V magnitude = hn::Abs(x);
  const V small = hn::MulAdd(x, NormalConstants<T>::small(d, hn::Mul(x, x)), x);
  const V large = hn::Sub(hn::Set(d, T(1)), rest_of_erf(d, magnitude));
  return hn::IfThenElse(hn::Ge(magnitude, hn::Set(d, T(0.92))), hn::CopySign(large, x), small);
}

/// 1 - erf(x) of float or double lanes, without cancellation, within 7.5 ulp.
template <class D, class V>
HWY_INLINE V erfc(D d, V x) {
  using T = hn::TFromD<D>;
  const V root = hn::Set(d, T(1.4142135623730951));
  const V magnitude =
      bounded(d, hn::Abs(x), T(0), NormalConstants<T>::kMax / T(1.4142135623730951));
  const V tail = normal_tail(d, hn::Mul(magnitude, root), gaussian(d, magnitude, T(-1)));
  const V two = hn::Set(d, T(2));
  const V right = hn::Mul(two, tail);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(two, right), right);
}

/// The x for which erf(x) = y, for double lanes, within 3 ulp.
///
/// The method is from Giles, Approximating the erfinv function, GPU Computing Gems 2, 2011. With
/// w = -log(1 - y^2), erfinv(y) / y is a smooth function of w near 0, and of sqrt(w) elsewhere. The
/// polynomials are our own.
template <class D, class V>
HWY_INLINE V erfinv(D d, V y) {
  const V one = hn::Set(d, 1.0);
  const V w = hn::Neg(log(d, hn::Mul(hn::Sub(one, y), hn::Add(one, y))));
  // for w from 0 to 6.25: 2^-58
  V slope = polynomial(d, hn::Sub(w, hn::Set(d, 3.125)), 1.6536545626831027, 0.24015818242558834,
                       -0.006033670871426996, -0.0007407025341545544, 0.000186734208020529,
                       -1.3882523394196934e-05, -1.3654691772633713e-06, 4.234788171200933e-07,
                       -2.9070389896114116e-08, -4.112660642631068e-09, 1.051222567168145e-09,
                       -5.4142946366318796e-11, -1.2978504254268368e-11, 2.630503486592321e-12,
                       -8.079289748949554e-14, -4.001590396193462e-14, 6.533338454760673e-15,
                       -3.987721417284649e-17, -1.234483106381101e-16, 1.554513870914733e-17,
                       6.956327620563198e-19, -3.487622141917346e-19, 1.6540658635802113e-20,
                       3.2193193514567297e-21, -3.0018575073216423e-22);
  const auto is_central = hn::Lt(w, hn::Set(d, 6.25));
  if (HWY_UNLIKELY(!hn::AllTrue(d, is_central))) {
    const V root = hn::Sqrt(w);
    // for sqrt(w) from 2.5 to 4: 2^-55
    const V mid =
        polynomial(d, hn::Sub(root, hn::Set(d, 3.25)), 3.0838856104922208, 1.0052589676941657,
                   0.005370914553571294, -0.0037512085082641185, 0.002491442096998291,
                   -0.0016882755342180506, 0.0009532893634744126, -0.0003550378312678059,
                   2.4031259173410043e-05, 6.828725189255403e-05, -4.731899363560781e-05,
                   1.2464420438124285e-05, 2.925753135004959e-06, -3.984046093411164e-06,
                   1.4986793763346008e-06, -3.0310899259350904e-08, -2.713211299821446e-07,
                   1.339772216922531e-07, 6.906012633913057e-10, -1.6198637488022226e-08);
    // for sqrt(w) from 4 to 6.005, where |y| is the largest number below 1: 2^-57
    const V tail =
        polynomial(d, hn::Sub(root, hn::Set(d, 5.0)), 4.849906401408584, 1.0103004648645453,
                   -0.00013871931838098736, -0.00021503011982537806, 7.599527811888854e-05,
                   -1.9681770735770517e-05, 4.526052301475325e-06, -9.930291680923228e-07,
                   2.2905396533786025e-07, -6.755685977588937e-08, 2.901534473178353e-08,
                   -1.5253969014874278e-08, 7.827032498236194e-09, -3.4723243354054883e-09,
                   1.310472691710211e-09, -4.3710143796705674e-10, 7.249720272759415e-11,
                   4.278423932967346e-11, -2.103678649199968e-11);
    const auto is_mid = hn::Lt(root, hn::Set(d, 4.0));
    slope = hn::IfThenElse(is_central, slope, hn::IfThenElse(is_mid, mid, tail));
    // At -1 and 1 w is infinite.
    slope = hn::IfThenElse(hn::Eq(hn::Abs(y), one), w, slope);
  }
  return hn::Mul(y, slope);
}

/// The normal distribution function. The absolute error is below 2^-24 for float lanes, and below
/// 2^-52 for double lanes.
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
float > HWY_INLINE V normal_mass(D d, V x) {
  // 1/2 + t p(t^2) / q(t^2) for t in [-5.5, 5.5]: 2^-27. The result is 0 below and 1 above.
  const V t = bounded(d, x, -5.5f, 5.5f);
  const V square = hn::Mul(t, t);
  const V p = polynomial(d, square, 0.398942235f, 0.0338525587f, 0.00467725455f, 0.000168824687f,
                         6.35210317e-6f, 2.27494268e-8f);
  const V q = polynomial(d, square, 1.0f, 0.251521699f, 0.0286458195f, 0.00188443929f,
                         7.36471439e-5f, 1.19750463e-6f);
  const V mass = hn::Add(hn::Div(hn::Mul(t, p), q), hn::Set(d, 0.5f));
  const V min = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -5.5f)), mass);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 5.5f)), hn::Set(d, 1.0f), min);
}
template <class D, class V>
requires std::same_as < hn::TFromD<D>,
double > HWY_INLINE V normal_mass(D d, V x) {
  const V t = bounded(d, hn::Abs(x), 0.0, NormalConstants<double>::kMax);
  const V tail = normal_tail(d, t, gaussian(d, t));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0), tail));
}

template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  return hn::Mul(x, normal_mass(d, x));
}

template <class D, class V>
HWY_INLINE V gelu_derivative(D d, V x) {
  using T = hn::TFromD<D>;
  // Without the bounds the product with the density could be infinity times 0.
  const V t = bounded(d, x, -NormalConstants<T>::kMax, NormalConstants<T>::kMax);
  const V gauss = exp_not_positive(d, hn::Mul(hn::Mul(t, t), hn::Set(d, T(-0.5))));
  const V density = hn::Mul(gauss, hn::Set(d, T(0.3989422804014327)));  // 1 / sqrt(2 pi)
  return hn::MulAdd(t, density, normal_mass(d, x));
}

// gelu with approximate='tanh' is x sigmoid(z) with z = sqrt(8 / pi) (x + 0.044715 x^3). sigmoid(z)
// equals (1 + tanh(z / 2)) / 2, but has no cancellation.

template <class D, class V>
HWY_INLINE V gelu_tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const V slope = polynomial(d, hn::Mul(x, x), T(1.5957691216057308), T(0.07135481627260025));
  return hn::Mul(x, sigmoid(d, hn::Mul(x, slope)));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_derivative(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T(1));
  // For |x| >= 32, the second term is 0. Without the bound it could be 0 times infinity.
  const V square = hn::Min(hn::Mul(x, x), hn::Set(d, T(1024)));
  const V z = hn::Mul(x, polynomial(d, square, T(1.5957691216057308), T(0.07135481627260025)));
  const V slope = polynomial(d, square, T(1.5957691216057308), T(0.21406444881780073));
  const V e = exp(d, hn::Neg(hn::Abs(z)));
  const V r = hn::Div(one, hn::Add(one, e));
  const V er = hn::Mul(e, r);
  const V s = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), er, r);  // s (1 - s) is er r for every x
  return hn::MulAdd(x, hn::Mul(hn::Mul(er, r), slope), s);
}

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
