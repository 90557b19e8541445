// The operations of softmax, its logarithm and their gradients on vectors, for every SIMD target.
// softmax_loops.cpp includes the file after <hwy/foreach_target.h>.

#if defined(TEND_CORE_KERNELS_SOFTMAX_OPERATIONS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TEND_CORE_KERNELS_SOFTMAX_OPERATIONS_H
#undef TEND_CORE_KERNELS_SOFTMAX_OPERATIONS_H
#else
#define TEND_CORE_KERNELS_SOFTMAX_OPERATIONS_H
#endif

#include <tend/core/kernels/simd/simd_math.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Each operation sums term() of every element, and computes each result by value() from the element
// and total(sum). `max` is the largest element if kUsesMax is true, and unused otherwise. With
// kKeepsTerms, the argument x of value() is the result of term() and not the element.

struct Softmax {
  static constexpr bool kUsesMax = true, kKeepsTerms = true;
  template <class D, class V>
  static HWY_INLINE V term(D d, V x, V, V max) {
    return exp_not_positive(d, hn::Sub(x, max));
  }
  template <class D, class V>
  static HWY_INLINE V total(D d, V sum) {
    return hn::Div(hn::Set(d, hn::TFromD<D>(1)), sum);
  }
  template <class D, class V>
  static HWY_INLINE V value(D, V x, V, V, V total) {
    return hn::Mul(x, total);
  }
};

struct LogSoftmax {
  static constexpr bool kUsesMax = true, kKeepsTerms = false;
  template <class D, class V>
  static HWY_INLINE V term(D d, V x, V, V max) {
    return exp_not_positive(d, hn::Sub(x, max));
  }
  template <class D, class V>
  static HWY_INLINE V total(D d, V sum) {
    return log(d, sum);
  }
  template <class D, class V>
  static HWY_INLINE V value(D, V x, V, V max, V total) {
    return hn::Sub(hn::Sub(x, max), total);
  }
};

struct SoftmaxBackward {
  static constexpr bool kUsesMax = false, kKeepsTerms = false;
  template <class D, class V>
  static HWY_INLINE V term(D, V grad, V y, V) {
    return hn::Mul(grad, y);
  }
  template <class D, class V>
  static HWY_INLINE V total(D, V sum) {
    return sum;
  }
  template <class D, class V>
  static HWY_INLINE V value(D, V grad, V y, V, V total) {
    return hn::Mul(y, hn::Sub(grad, total));
  }
};

struct LogSoftmaxBackward {
  static constexpr bool kUsesMax = false, kKeepsTerms = false;
  template <class D, class V>
  static HWY_INLINE V term(D, V grad, V, V) {
    return grad;
  }
  template <class D, class V>
  static HWY_INLINE V total(D, V sum) {
    return sum;
  }
  template <class D, class V>
  static HWY_INLINE V value(D d, V grad, V y, V, V total) {
    return hn::NegMulAdd(exp(d, y), total, grad);
  }
};

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
