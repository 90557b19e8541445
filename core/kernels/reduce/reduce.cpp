#include <tend/core/kernels/reduce/reduce.h>

#include <cassert>
#include <cmath>

#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/reduce/reduce_loop.h>
#include <tend/core/kernels/reduce/reduce_ops.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/reduce/reduce.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/reduce/reduction.h>

#ifndef TEND_CORE_KERNELS_REDUCE_KERNELS
#define TEND_CORE_KERNELS_REDUCE_KERNELS
namespace tend::kernels {

template <class Op, class T>
struct Reduction {
  ReduceBlock<Op, T> run;
};
template <class... Each>
struct ReductionSet : Each... {};
// The reductions whose loops are compiled for every SIMD target. Others are compiled only for the
// baseline target.
using Reductions = ReductionSet<
    Reduction<Sum<float>, float>, Reduction<Sum<double>, double>, Reduction<Sum<double>, float>,
    Reduction<SquareSum<float>, float>, Reduction<SquareSum<double>, double>,
    Reduction<NumberSum<float>, float>, Reduction<NumberSum<double>, double>,
    Reduction<NumberSum<double>, float>, Reduction<AbsoluteSum<float>, float>,
    Reduction<AbsoluteSum<double>, double>, Reduction<NonzeroCount<float>, float>,
    Reduction<NonzeroCount<double>, double>, Reduction<Product<float>, float>,
    Reduction<Product<double>, double>, Reduction<Largest<float>, float>,
    Reduction<Largest<double>, double>, Reduction<LargestMagnitude<float>, float>,
    Reduction<LargestMagnitude<double>, double>, Reduction<SmallestMagnitude<float>, float>,
    Reduction<SmallestMagnitude<double>, double>, Reduction<Smallest<float>, float>,
    Reduction<Smallest<double>, double>, Reduction<Largest<std::int64_t>, std::int64_t>,
    Reduction<Smallest<std::int64_t>, std::int64_t>, Reduction<Sum<std::uint64_t>, bool>,
    Reduction<WholeSum, float>, Reduction<WholeSum, double>, Reduction<Any<Truth<bool>>, bool>,
    Reduction<All<Truth<bool>>, bool>, Reduction<Any<Truth<float>>, float>,
    Reduction<All<Truth<float>>, float>, Reduction<Any<Truth<double>>, double>,
    Reduction<All<Truth<double>>, double>>;

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

template <class... Op, class... T>
constexpr ReductionSet<Reduction<Op, T>...> all_of(const ReductionSet<Reduction<Op, T>...>&) {
  return {{reduce_block<Op, T>}...};
}

const Reductions& find_reductions() {
  static constexpr Reductions kAll = all_of(Reductions());
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_reductions);

template <class Op, class T>
ReduceBlock<Op, T> reduce_block_of() {
  if constexpr (std::is_base_of_v<Reduction<Op, T>, Reductions>) {
    const Reduction<Op, T>& found = HWY_DYNAMIC_DISPATCH(find_reductions)();
    return found.run;
  } else {
    return HWY_NAMESPACE::reduce_block<Op, T>;
  }
}

template <class Op, class T, class Out>
void reduce_with(const Array& out, const Array& a, const Shape& dims) {
  reduce<Op, T, Out>(out, a, dims, reduce_block_of<Op, T>());
}

template <template <class> class Op>
void accumulate(const Array& out, const Array& a, const Shape& dims) {
  assert(out.dtype() == sum_dtype(a.dtype()));
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Out = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    reduce_with<Op<Total<T>>, T, Out>(out, a, dims);
  });
}

template <template <class> class Op>
void accumulate_floating(const char* name, const Array& out, const Array& a, const Shape& dims) {
  assert(out.dtype() == a.dtype());
  visit_floating(name, a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce_with<Op<T>, T, T>(out, a, dims);
  });
}

template <template <class> class Op>
void test(const Array& out, const Array& a, const Shape& dims) {
  assert(out.dtype() == boolean);
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce_with<Op<Truth<T>>, T, bool>(out, a, dims);
  });
}

template <bool kLargest>
void extreme(const char* name, const Array& out, const Array& a, const Shape& dims) {
  assert(out.dtype() == a.dtype());
  for (const std::int64_t d : dims) {
    if (a.shape()[d] == 0) fail<ShapeError>(name, "dimension ", d, " of ", a.shape(), " is empty");
  }
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      using Acc = Truth<bool>;
      reduce_with<std::conditional_t<kLargest, Any<Acc>, All<Acc>>, bool, bool>(out, a, dims);
    } else {
      reduce_with<std::conditional_t<kLargest, Largest<T>, Smallest<T>>, T, T>(out, a, dims);
    }
  });
}

}  // namespace

void sum(const Array& out, const Array& a, const Shape& dims) {
  if (a.numel() == 0) return fill(out, 0);  // the result may be large even if `a` is empty
  if (is_floating(a.dtype()) && out.dtype() == int64) {
    return visit_floating("sum", a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      reduce_with<WholeSum, T, std::int64_t>(out, a, dims);
    });
  }
  accumulate<Sum>(out, a, dims);
}

void prod(const Array& out, const Array& a, const Shape& dims) {
  accumulate<Product>(out, a, dims);
}

void mean(const Array& out, const Array& a, const Shape& dims) {
  visit_floating("mean", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    assert(out.dtype() == a.dtype());
    sum(out, a, dims);
    const T count = static_cast<T>(reduced_count(a.shape(), dims));
    map<T, T>(out, out, [count](T total) { return total / count; });
  });
}

void number_sum(const Array& out, const Array& a, const Shape& dims) {
  if (a.dtype() == float32 && out.dtype() == float64)
    return reduce_with<NumberSum<double>, float, double>(out, a, dims);
  accumulate_floating<NumberSum>("number_sum", out, a, dims);
}

void absolute_sum(const Array& out, const Array& a, const Shape& dims) {
  accumulate_floating<AbsoluteSum>("absolute_sum", out, a, dims);
}

void largest_magnitude(const Array& out, const Array& a, const Shape& dims) {
  accumulate_floating<LargestMagnitude>("largest_magnitude", out, a, dims);
}

void smallest_magnitude(const Array& out, const Array& a, const Shape& dims) {
  accumulate_floating<SmallestMagnitude>("smallest_magnitude", out, a, dims);
}

void nonzero_count(const Array& out, const Array& a, const Shape& dims) {
  accumulate_floating<NonzeroCount>("nonzero_count", out, a, dims);
}

void square_sum(const Array& out, const Array& a, const Shape& dims) {
  accumulate_floating<SquareSum>("square_sum", out, a, dims);
}

double square_sum(const Array& a) {
  const Array total = Array::empty({}, a.dtype());
  square_sum(total, a, wrap_dims("square_sum", {}, a.rank()));
  return total.item<double>();
}

void any(const Array& out, const Array& a, const Shape& dims) {
  test<Any>(out, a, dims);
}

void all(const Array& out, const Array& a, const Shape& dims) {
  test<All>(out, a, dims);
}

void amax(const Array& out, const Array& a, const Shape& dims) {
  extreme<true>("amax", out, a, dims);
}

void amin(const Array& out, const Array& a, const Shape& dims) {
  extreme<false>("amin", out, a, dims);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
