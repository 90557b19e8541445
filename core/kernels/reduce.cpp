#include <tend/core/kernels/reduce.h>

#include <cmath>

#include <tend/core/kernels/copy.h>
#include <tend/core/kernels/loops.h>
#include <tend/core/kernels/reduce_loop.h>
#include <tend/core/kernels/reduce_ops.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/reduce.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/folds.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {

// Not templates: HWY_EXPORT takes names.
#define TEND_FOLD(name, Op, T)                                                      \
  void name(AccOf<Op>* block, const T* from, std::int64_t count, std::int64_t down, \
            std::int64_t width, std::int64_t across) {                              \
    fold_block<Op>(block, from, count, down, width, across);                        \
  }
TEND_FOLD(sum_floats, Sum<float>, float)
TEND_FOLD(sum_doubles, Sum<double>, double)
TEND_FOLD(sum_floats_widely, Sum<double>, float)
TEND_FOLD(sum_squares, SquareSum<float>, float)
TEND_FOLD(sum_squares_of_doubles, SquareSum<double>, double)
TEND_FOLD(largest_float, Largest<float>, float)
TEND_FOLD(largest_double, Largest<double>, double)
TEND_FOLD(smallest_float, Smallest<float>, float)
TEND_FOLD(smallest_double, Smallest<double>, double)
#undef TEND_FOLD

}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(sum_floats);
HWY_EXPORT(sum_doubles);
HWY_EXPORT(sum_floats_widely);
HWY_EXPORT(sum_squares);
HWY_EXPORT(sum_squares_of_doubles);
HWY_EXPORT(largest_float);
HWY_EXPORT(largest_double);
HWY_EXPORT(smallest_float);
HWY_EXPORT(smallest_double);

// The loops for these operations; others are vectorised for the least processor only.
template <class Op, class T>
FoldBlock<Op, T> fold_block_of() {
  if constexpr (std::is_same_v<Op, Sum<float>>) return HWY_DYNAMIC_DISPATCH(sum_floats);
  if constexpr (std::is_same_v<Op, Sum<double>> && std::is_same_v<T, double>)
    return HWY_DYNAMIC_DISPATCH(sum_doubles);
  if constexpr (std::is_same_v<Op, Sum<double>> && std::is_same_v<T, float>)
    return HWY_DYNAMIC_DISPATCH(sum_floats_widely);
  if constexpr (std::is_same_v<Op, SquareSum<float>>) return HWY_DYNAMIC_DISPATCH(sum_squares);
  if constexpr (std::is_same_v<Op, SquareSum<double>>)
    return HWY_DYNAMIC_DISPATCH(sum_squares_of_doubles);
  if constexpr (std::is_same_v<Op, Largest<float>>) return HWY_DYNAMIC_DISPATCH(largest_float);
  if constexpr (std::is_same_v<Op, Largest<double>>) return HWY_DYNAMIC_DISPATCH(largest_double);
  if constexpr (std::is_same_v<Op, Smallest<float>>) return HWY_DYNAMIC_DISPATCH(smallest_float);
  if constexpr (std::is_same_v<Op, Smallest<double>>) return HWY_DYNAMIC_DISPATCH(smallest_double);
  return HWY_NAMESPACE::fold_block<Op, T>;
}

template <class Op, class T, class Out>
void fold(const Array& out, const Array& a, const Shape& dims) {
  reduce<Op, T, Out>(out, a, dims, fold_block_of<Op, T>());
}

template <template <class> class Op>
void accumulate(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != sum_dtype(a.dtype())) {
    fail<DTypeError>(name, a.dtype(), " gives ", sum_dtype(a.dtype()), ", not ", out.dtype());
  }
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    fold<Op<Total<T>>, T, Out>(out, a, dims);
  });
}

template <class Op>
void test(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != boolean) fail<DTypeError>(name, "gives bool, not ", out.dtype());
  visit_dtype(a.dtype(),
              [&](auto tag) { fold<Op, typename decltype(tag)::type, bool>(out, a, dims); });
}

std::int64_t reduced_count(const Array& a, const Shape& dims) {
  std::int64_t count = 1;
  // Of an array without elements some factors may be large, and the count does not matter then.
  for (const std::int64_t d : dims) {
    if (__builtin_mul_overflow(count, a.shape()[d], &count)) return 0;
  }
  return count;
}

template <bool kLargest>
void extreme(const char* name, const Array& out, const Array& a, const Shape& dims) {
  if (out.dtype() != a.dtype()) {
    fail<DTypeError>(name, a.dtype(), " gives ", a.dtype(), ", not ", out.dtype());
  }
  for (const std::int64_t d : dims) {
    if (a.shape()[d] == 0) fail<ShapeError>(name, "dimension ", d, " of ", a.shape(), " is empty");
  }
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      fold<std::conditional_t<kLargest, Any, All>, bool, bool>(out, a, dims);
    } else {
      fold<std::conditional_t<kLargest, Largest<T>, Smallest<T>>, T, T>(out, a, dims);
    }
  });
}

}  // namespace

void sum(const Array& out, const Array& a, const Shape& dims) {
  accumulate<Sum>("sum", out, a, dims);
}

void prod(const Array& out, const Array& a, const Shape& dims) {
  accumulate<Product>("prod", out, a, dims);
}

void mean(const Array& out, const Array& a, const Shape& dims) {
  visit_floating("mean", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    sum(out, a, dims);
    const T count = static_cast<T>(reduced_count(a, dims));
    map<T, T>(out, out, [count](T total) { return total / count; });
  });
}

namespace {

template <class T, class Out>
void var_typed(const Array& out, const Array& a, const Shape& dims, double correction) {
  // In float32 a mean far from zero would be too coarse to measure distances from.
  const Array middle = Array::empty(reduced_shape(a.shape(), dims, true), float64);
  const double total = static_cast<double>(reduced_count(a, dims));
  fold<Sum<double>, T, double>(middle, a, dims);
  const Array squares = Array::empty(a.shape(), out.dtype());
  map<Out, T, double>(squares, a, middle, [total](T x, double sum_of_all) {
    const double distance = static_cast<double>(x) - sum_of_all / total;
    return static_cast<Out>(distance * distance);
  });
  sum(out, squares, dims);
  const Out freedom = static_cast<Out>(std::max(0.0, total - correction));
  map<Out, Out>(out, out, [freedom](Out sum_of_squares) { return sum_of_squares / freedom; });
}

}  // namespace

void var(const Array& out, const Array& a, const Shape& dims, double correction) {
  visit_floating("var", a.dtype(), [&](auto from) {
    visit_floating("var", out.dtype(), [&](auto to) {
      var_typed<typename decltype(from)::type, typename decltype(to)::type>(out, a, dims,
                                                                            correction);
    });
  });
}

double square_sum(const Array& a) {
  const Array total = Array::empty({}, a.dtype());
  visit_floating("square_sum", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fold<SquareSum<T>, T, T>(total, a, wrap_dims("square_sum", {}, a.rank()));
  });
  return total.item<double>();
}

void any(const Array& out, const Array& a, const Shape& dims) {
  test<Any>("any", out, a, dims);
}

void all(const Array& out, const Array& a, const Shape& dims) {
  test<All>("all", out, a, dims);
}

void amax(const Array& out, const Array& a, const Shape& dims) {
  extreme<true>("amax", out, a, dims);
}

void amin(const Array& out, const Array& a, const Shape& dims) {
  extreme<false>("amin", out, a, dims);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
