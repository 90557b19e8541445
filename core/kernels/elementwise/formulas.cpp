#include <tend/core/kernels/elementwise/formulas.h>

#include <limits>

#include <tend/core/kernels/elementwise/map_spans.h>
#include <tend/core/kernels/simd/for_types.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/elementwise/formulas.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_functions.h>
#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_normal.h>
#include <tend/core/kernels/simd/simd_transform.h>

namespace tend::kernels {
#ifndef TEND_CORE_KERNELS_FORMULA_SPANS
#define TEND_CORE_KERNELS_FORMULA_SPANS
/// out[i] = formula(inputs[i]...), for n contiguous elements.
template <class T>
struct FormulaSpans {
  void (*of_one)(Formula formula, Parameters parameters, std::size_t n, T* out, const T* x);
  void (*of_two)(PairFormula formula, Parameters parameters, std::size_t n, T* out, const T* x,
                 const T* y);
  void (*of_three)(TripleFormula formula, Parameters parameters, std::size_t n, T* out, const T* x,
                   const T* y, const T* z);
};
#endif
}  // namespace tend::kernels

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The activation functions compute exponentials only of numbers <= 0, which never overflow.

/// log(1 + e^-|x|)
template <class D, class V>
HWY_INLINE V log_of_one_plus(D d, V x) {
  return log1p(d, exp(d, hn::Neg(hn::Abs(x))));
}

template <class D, class V>
HWY_INLINE V logsigmoid(D d, V x) {
  const V low = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Zero(d), x);
  return hn::Sub(low, log_of_one_plus(d, x));
}

// tanh(log(1 + e^x)) = n / (n + 2), where n = e^x (e^x + 2). For positive x, numerator and
// denominator are divided by e^2x. The argument `e` is e^-|x|.
template <class D, class V>
HWY_INLINE V tanh_of_softplus(D d, V x, V e) {
  const V two = hn::Set(d, hn::TFromD<D>(2));
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const V n = hn::IfThenElse(is_negative, hn::Mul(e, hn::Add(e, two)), hn::MulAdd(two, e, one(d)));
  const V more = hn::IfThenElse(is_negative, two, hn::Mul(two, hn::Mul(e, e)));
  return hn::Div(n, hn::Add(n, more));
}

template <class D, class V>
HWY_INLINE V mish(D d, V x) {
  return hn::Mul(x, tanh_of_softplus(d, x, exp(d, hn::Neg(hn::Abs(x)))));
}

// The derivative t + x sigmoid(x) (1 - t^2), where t = tanh(softplus(x)).
template <class D, class V>
HWY_INLINE V mish_slope(D d, V x) {
  const V e = exp(d, hn::Neg(hn::Abs(x)));
  const V t = tanh_of_softplus(d, x, e);
  const V up = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one(d));
  const V xs = hn::Mul(x, hn::Div(up, hn::Add(one(d), e)));
  return hn::MulAdd(xs, hn::NegMulAdd(t, t, one(d)), t);
}

template <class D, class V>
HWY_INLINE V hardsigmoid(D d, V x) {
  using T = hn::TFromD<D>;
  return hn::Div(bounded(d, hn::Add(x, hn::Set(d, T(3))), T(0), T(6)), hn::Set(d, T(6)));
}

template <class D, class V>
HWY_INLINE V clamp(D d, V x, V lo, V hi) {
  (void)d;
  const V above = hn::IfThenElse(hn::Or(hn::Gt(x, lo), hn::IsNaN(x)), x, lo);
  return hn::IfThenElse(hn::Or(hn::Lt(above, hi), hn::IsNaN(above)), above, hi);
}

template <class D, class V>
HWY_INLINE V sign(D d, V x) {
  const V up = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one(d));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(one(d)), up);
}

// True where |x| = size, or where both are NaN.
template <class D, class V>
HWY_INLINE auto has_magnitude(D, V x, V size) {
  return hn::Or(hn::Eq(hn::Abs(x), size), hn::And(hn::IsNaN(x), hn::IsNaN(size)));
}

template <class D, class V>
HWY_INLINE V huber(D d, V size, V bound) {
  const V half = hn::Set(d, hn::TFromD<D>(0.5));
  const V near = hn::Mul(hn::Mul(size, size), half);
  const V far = hn::Mul(hn::Sub(size, hn::Mul(bound, half)), bound);
  return hn::IfThenElse(hn::Le(size, bound), near, far);
}

template <class D, class V>
HWY_INLINE V smooth_l1(D d, V size, V bound) {
  const V half = hn::Set(d, hn::TFromD<D>(0.5));
  const V near = hn::Div(hn::Mul(hn::Mul(half, size), size), bound);
  return hn::IfThenElse(hn::Lt(size, bound), near, hn::Sub(size, hn::Mul(bound, half)));
}

template <class D, class V>
HWY_INLINE V lerp(D d, V x, V y, V weight) {
  const V way = hn::Sub(y, x);
  const V from_x = hn::Add(x, hn::Mul(weight, way));
  const V from_y = hn::Sub(y, hn::Mul(way, hn::Sub(one(d), weight)));
  const auto nearer_x = hn::Lt(hn::Abs(weight), hn::Set(d, hn::TFromD<D>(0.5)));
  return hn::IfThenElse(nearer_x, from_x, from_y);
}

// Parameters converted to T: a, b and c are numbers, and va(d), vb(d) and vc(d) are vectors.
template <class T>
struct Typed {
  T a, b, c;
  explicit Typed(const Parameters& p)
      : a(convert<T>(p.a)), b(convert<T>(p.b)), c(convert<T>(p.c)) {}
  template <class D>
  HWY_INLINE hn::Vec<D> va(D d) const {
    return hn::Set(d, a);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> vb(D d) const {
    return hn::Set(d, b);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> vc(D d) const {
    return hn::Set(d, c);
  }
};

// Calls use(f), where f(d, x) is the formula.
template <class T, class F>
HWY_INLINE void with_formula(Formula formula, Typed<T> p, F use) {
  switch (formula) {
    case Formula::clamp:
      return use([p](auto d, auto x) HWY_ATTR { return bounded(d, x, p.a, p.b); });
    case Formula::leaky_relu:
      return use([p](auto d, auto x) HWY_ATTR {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, p.va(d)));
      });
    case Formula::elu:
      return use([p](auto d, auto x) HWY_ATTR {
        const auto low = hn::Mul(p.va(d), expm1(d, hn::Mul(x, p.vb(d))));
        return hn::IfThenElse(hn::Le(x, hn::Zero(d)), low, hn::Mul(x, p.vc(d)));
      });
    case Formula::softplus:
      return use([p](auto d, auto x) HWY_ATTR {
        const auto z = hn::Mul(x, p.va(d));
        const auto sum = hn::Add(at_least(d, z, T(0)), log_of_one_plus(d, z));
        return hn::IfThenElse(hn::Gt(z, p.vb(d)), x, hn::Div(sum, p.va(d)));
      });
    case Formula::logsigmoid: return use([](auto d, auto x) HWY_ATTR { return logsigmoid(d, x); });
    case Formula::mish: return use([](auto d, auto x) HWY_ATTR { return mish(d, x); });
    case Formula::hardsigmoid:
      return use([](auto d, auto x) HWY_ATTR { return hardsigmoid(d, x); });
    case Formula::hardswish:
      return use([](auto d, auto x) HWY_ATTR {
        const auto is_open = hn::Gt(x, hn::Set(d, T(3)));
        const auto gate = bounded(d, hn::Add(x, hn::Set(d, T(3))), T(0), T(6));
        return hn::IfThenElse(is_open, x, hn::Div(hn::Mul(x, gate), hn::Set(d, T(6))));
      });
    case Formula::entr:
      return use([](auto d, auto x) HWY_ATTR {
        const auto positive = hn::Neg(hn::Mul(x, log(d, x)));
        const auto from_zero = hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), positive);
        const auto below = hn::Set(d, -std::numeric_limits<T>::infinity());
        return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, from_zero);
      });
    case Formula::logit:
      return use([p](auto d, auto x) HWY_ATTR {
        const auto z = bounded(d, x, p.a, p.b);
        return log(d, hn::Div(z, hn::Sub(one(d), z)));
      });
    case Formula::nan_to_num:
      return use([p](auto d, auto x) HWY_ATTR {
        const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
        const auto below = hn::IfThenElse(hn::Eq(x, infinity), p.vb(d), x);
        const auto finite = hn::IfThenElse(hn::Eq(x, hn::Neg(infinity)), p.vc(d), below);
        return hn::IfThenElse(hn::IsNaN(x), p.va(d), finite);
      });
  }
}

// Calls use(f), where f(d, x, y) is the formula.
template <class T, class F>
HWY_INLINE void with_formula(PairFormula formula, Typed<T> p, F use) {
  switch (formula) {
    case PairFormula::gated:
      return use([](auto d, auto x, auto y) HWY_ATTR { return hn::Mul(x, sigmoid(d, y)); });
    case PairFormula::lerp:
      return use([p](auto d, auto x, auto y) HWY_ATTR { return lerp(d, x, y, p.va(d)); });
    case PairFormula::squared_difference:
      return use([](auto, auto x, auto y) HWY_ATTR {
        const auto difference = hn::Sub(x, y);
        return hn::Mul(difference, difference);
      });
    case PairFormula::absolute_difference:
      return use([](auto, auto x, auto y) HWY_ATTR { return hn::Abs(hn::Sub(x, y)); });
    case PairFormula::huber:
      return use([p](auto d, auto x, auto y)
                     HWY_ATTR { return huber(d, hn::Abs(hn::Sub(x, y)), p.va(d)); });
    case PairFormula::smooth_l1:
      return use([p](auto d, auto x, auto y)
                     HWY_ATTR { return smooth_l1(d, hn::Abs(hn::Sub(x, y)), p.va(d)); });
    case PairFormula::cross_entropy_with_logits:
      return use([](auto d, auto x, auto y) HWY_ATTR {
        return hn::Sub(hn::Mul(hn::Sub(one(d), y), x), logsigmoid(d, x));
      });
    case PairFormula::has_magnitude:
      return use([](auto d, auto x, auto y)
                     HWY_ATTR { return hn::IfThenElseZero(has_magnitude(d, x, y), one(d)); });
    case PairFormula::tanh_backward:
      return use([](auto d, auto grad, auto y)
                     HWY_ATTR { return hn::Mul(grad, hn::NegMulAdd(y, y, one(d))); });
    case PairFormula::sigmoid_backward:
      return use([](auto d, auto grad, auto y)
                     HWY_ATTR { return hn::Mul(grad, hn::Mul(y, hn::Sub(one(d), y))); });
    case PairFormula::silu_backward:
      return use([](auto d, auto grad, auto x)
                     HWY_ATTR { return hn::Mul(grad, silu_derivative(d, x)); });
    case PairFormula::gelu_backward:
      return use([](auto d, auto grad, auto x)
                     HWY_ATTR { return hn::Mul(grad, gelu_derivative(d, x)); });
    case PairFormula::gelu_tanh_backward:
      return use([](auto d, auto grad, auto x)
                     HWY_ATTR { return hn::Mul(grad, gelu_tanh_derivative(d, x)); });
    case PairFormula::relu_backward:
      return use([](auto d, auto grad, auto y)
                     HWY_ATTR { return hn::IfThenZeroElse(hn::Le(y, hn::Zero(d)), grad); });
    case PairFormula::hardtanh_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        return hn::IfThenZeroElse(hn::Or(hn::Le(x, p.va(d)), hn::Ge(x, p.vb(d))), grad);
      });
    case PairFormula::clamp_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        return hn::IfThenElseZero(hn::And(hn::Ge(x, p.va(d)), hn::Le(x, p.vb(d))), grad);
      });
    case PairFormula::leaky_relu_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), grad, hn::Mul(grad, p.va(d)));
      });
    case PairFormula::elu_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        const auto is_low = hn::Le(x, hn::Zero(d));
        const auto e = exp(d, hn::IfThenElseZero(is_low, hn::Mul(x, p.vb(d))));
        const auto slope = hn::Mul(hn::Mul(p.va(d), p.vb(d)), e);
        return hn::Mul(grad, hn::IfThenElse(is_low, slope, p.vc(d)));
      });
    case PairFormula::softplus_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        const auto z = hn::Mul(x, p.va(d));
        return hn::IfThenElse(hn::Gt(z, p.vb(d)), grad, hn::Mul(grad, sigmoid(d, z)));
      });
    case PairFormula::logsigmoid_backward:
      return use([](auto d, auto grad, auto x)
                     HWY_ATTR { return hn::Mul(grad, sigmoid(d, hn::Neg(x))); });
    case PairFormula::mish_backward:
      return use([](auto d, auto grad, auto x)
                     HWY_ATTR { return hn::Mul(grad, mish_slope(d, x)); });
    case PairFormula::hardsigmoid_backward:
      return use([](auto d, auto grad, auto x) HWY_ATTR {
        const auto is_inside = hn::Lt(hn::Abs(x), hn::Set(d, T(3)));
        return hn::IfThenElseZero(is_inside, hn::Div(grad, hn::Set(d, T(6))));
      });
    case PairFormula::hardswish_backward:
      return use([](auto d, auto grad, auto x) HWY_ATTR {
        const auto three = hn::Set(d, T(3));
        const auto slope = hn::Add(hn::Div(x, three), hn::Set(d, T(0.5)));
        const auto high = hn::IfThenElse(hn::Gt(x, three), grad, hn::Mul(grad, slope));
        return hn::IfThenZeroElse(hn::Lt(x, hn::Neg(three)), high);
      });
    case PairFormula::logit_backward:
      return use([p](auto d, auto grad, auto x) HWY_ATTR {
        const auto is_outside = hn::Or(hn::Lt(x, p.va(d)), hn::Gt(x, p.vb(d)));
        const auto inside = hn::Div(grad, hn::Mul(x, hn::Sub(one(d), x)));
        return hn::IfThenElse(is_outside, p.vc(d), inside);
      });
    case PairFormula::nan_to_num_backward:
      return use([](auto d, auto grad, auto x) HWY_ATTR {
        const auto is_finite = hn::Eq(hn::Sub(x, x), hn::Zero(d));
        return hn::IfThenElseZero(is_finite, grad);
      });
  }
}

// Calls use(f), where f(d, x, y, z) is the formula.
template <class T, class F>
HWY_INLINE void with_formula(TripleFormula formula, Typed<T> p, F use) {
  switch (formula) {
    case TripleFormula::addcmul:
      return use([p](auto d, auto x, auto y, auto z)
                     HWY_ATTR { return hn::Add(x, hn::Mul(hn::Mul(p.va(d), y), z)); });
    case TripleFormula::addcdiv:
      return use([p](auto d, auto x, auto y, auto z)
                     HWY_ATTR { return hn::Add(x, hn::Div(hn::Mul(p.va(d), y), z)); });
    case TripleFormula::lerp:
      return use([](auto d, auto x, auto y, auto z) HWY_ATTR { return lerp(d, x, y, z); });
    case TripleFormula::clamp:
      return use([](auto d, auto x, auto y, auto z) HWY_ATTR { return clamp(d, x, y, z); });
    case TripleFormula::scaled_distance:
      return use([](auto, auto x, auto y, auto z) HWY_ATTR { return hn::Mul(x, hn::Sub(y, z)); });
    case TripleFormula::scaled_power:
      return use([](auto d, auto x, auto y, auto z)
                     HWY_ATTR { return hn::Mul(x, exp(d, hn::Sub(y, z))); });
    case TripleFormula::signed_where_magnitude:
      return use([](auto d, auto x, auto y, auto z) HWY_ATTR {
        return hn::Mul(x, hn::IfThenElseZero(has_magnitude(d, y, z), sign(d, y)));
      });
    case TripleFormula::gate_backward:
      return use([](auto d, auto grad, auto x, auto y) HWY_ATTR {
        const auto s = sigmoid(d, y);
        // Multiplies by the slope first: grad * x may be infinite where the gradient is not.
        return hn::Mul(hn::Mul(grad, hn::Mul(s, hn::Sub(one(d), s))), x);
      });
    case TripleFormula::squared_difference_backward:
      return use([](auto, auto grad, auto x, auto y) HWY_ATTR {
        const auto difference = hn::Sub(x, y);
        return hn::Mul(hn::Add(difference, difference), grad);
      });
    case TripleFormula::absolute_difference_backward:
      return use([](auto d, auto grad, auto x, auto y)
                     HWY_ATTR { return hn::Mul(sign(d, hn::Sub(x, y)), grad); });
    case TripleFormula::huber_backward:
      return use([p](auto d, auto grad, auto x, auto y)
                     HWY_ATTR { return hn::Mul(bounded(d, hn::Sub(x, y), -p.a, p.a), grad); });
    case TripleFormula::smooth_l1_backward:
      return use([p](auto d, auto grad, auto x, auto y) HWY_ATTR {
        const auto slope = bounded(d, hn::Div(hn::Sub(x, y), p.va(d)), T(-1), T(1));
        return hn::Mul(slope, grad);
      });
    case TripleFormula::cross_entropy_with_logits_backward:
      return use([](auto d, auto grad, auto x, auto y)
                     HWY_ATTR { return hn::Mul(hn::Sub(sigmoid(d, x), y), grad); });
  }
}

// True if prefetching pays: for exponentials and logarithms of one number.
constexpr bool takes_longer_than_memory(Formula formula) {
  return formula == Formula::elu || formula == Formula::softplus ||
         formula == Formula::logsigmoid || formula == Formula::mish || formula == Formula::entr ||
         formula == Formula::logit;
}
template <class Other>
constexpr bool takes_longer_than_memory(Other) {
  return false;
}

template <class T, class AnyFormula, class... Inputs>
void run_formula(AnyFormula formula, Parameters parameters, std::size_t n, T* out,
                 const Inputs*... in) {
  const bool prefetches = takes_longer_than_memory(formula);
  with_formula(formula, Typed<T>(parameters), [=](auto f) HWY_ATTR {
    transform(hn::ScalableTag<T>(), prefetches, n, out, f, in...);
  });
}

template <class T>
constexpr FormulaSpans<T> spans_of() {
  return {run_formula<T, Formula, T>, run_formula<T, PairFormula, T, T>,
          run_formula<T, TripleFormula, T, T, T>};
}

const ForTypes<FormulaSpans>& find_formula_spans() {
  static constexpr ForTypes<FormulaSpans> kAll = {spans_of<float>(), spans_of<double>()};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_formula_spans);

template <class T>
const FormulaSpans<T>& formula_spans() {
  return HWY_DYNAMIC_DISPATCH(find_formula_spans)().of<T>();
}

}  // namespace

void compute(std::string_view operation, Formula formula, Parameters parameters, const Array& out,
             const Array& x) {
  const auto run = [=]<class T>(std::size_t n, T* to, const T* a) {
    formula_spans<T>().of_one(formula, parameters, n, to, a);
  };
  map_floating_spans(operation, run, out, x);
}

void compute(std::string_view operation, PairFormula formula, Parameters parameters,
             const Array& out, const Array& x, const Array& y) {
  const auto run = [=]<class T>(std::size_t n, T* to, const T* a, const T* b) {
    formula_spans<T>().of_two(formula, parameters, n, to, a, b);
  };
  map_floating_spans(operation, run, out, x, y);
}

void compute(std::string_view operation, TripleFormula formula, Parameters parameters,
             const Array& out, const Array& x, const Array& y, const Array& z) {
  const auto run = [=]<class T>(std::size_t n, T* to, const T* a, const T* b, const T* c) {
    formula_spans<T>().of_three(formula, parameters, n, to, a, b, c);
  };
  map_floating_spans(operation, run, out, x, y, z);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
