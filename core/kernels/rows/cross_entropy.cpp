#include <tend/core/kernels/rows/cross_entropy.h>

#include <algorithm>

#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/threads/parallel.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows/cross_entropy.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_math.h>
#include <tend/core/kernels/simd/simd_rows.h>

#ifndef TEND_CORE_KERNELS_CROSS_ENTROPY_KERNELS
#define TEND_CORE_KERNELS_CROSS_ENTROPY_KERNELS
namespace tend::kernels {

// Kernels for a row of n logits.
template <class T>
struct LossKernels {
  T (*loss)(std::size_t n, const T* a, std::size_t label, T on, T off, T& largest, T& sum);
  void (*gradient)(std::size_t n, T* out, T scale, const T* a, std::size_t label, T largest, T sum,
                   T on, T off);
};

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

template <class T>
T loss_of_row(std::size_t n, const T* a, std::size_t label, T on, T off, T& largest, T& sum) {
  const RowTag<T> d;
  using V = hn::Vec<RowTag<T>>;
  const V max = row_max(n, a);
  const V sums = hn::SumOfLanes(d, for_row<T>(n, a, a, [&](std::size_t i, V x, V) HWY_ATTR {
                                  hwy::Prefetch(a + n + i);  // the next row
                                  return exp_not_positive(d, hn::Sub(x, max));
                                }));
  largest = hn::GetLane(max);
  sum = hn::GetLane(sums);
  const T log_sum = hn::GetLane(log(d, sums));
  T loss = on * (log_sum - (a[label] - largest));
  if (off != 0) {
    const V terms =
        for_row<T>(n, a, a, [&](std::size_t, V x, V) HWY_ATTR { return hn::Sub(x, max); });
    loss += off * (static_cast<T>(n) * log_sum - hn::GetLane(hn::SumOfLanes(d, terms)));
  }
  return loss;
}

template <class T>
void gradient_of_row(std::size_t n, T* out, T scale, const T* a, std::size_t label, T largest,
                     T sum, T on, T off) {
  const auto slope = [=](auto d, auto x) HWY_ATTR {
    const auto e = exp_not_positive(d, hn::Sub(x, hn::Set(d, largest)));
    return hn::Sub(hn::Mul(e, hn::Set(d, 1 / sum)), hn::Set(d, off));
  };
  const hn::CappedTag<T, 1> single;
  const T at_label = hn::GetLane(slope(single, hn::LoadU(single, a + label))) - on;
  const RowTag<T> d;
  using V = hn::Vec<RowTag<T>>;
  for_row<T>(n, a, a, [&](std::size_t i, V x, V) HWY_ATTR {
    hn::StoreU(hn::Mul(slope(d, x), hn::Set(d, scale)), d, out + i);
    return x;
  });
  out[label] = at_label * scale;
}

const ForTypes<LossKernels>& find_loss_kernels() {
  static constexpr ForTypes<LossKernels> kAll = {{loss_of_row, gradient_of_row},
                                                 {loss_of_row, gradient_of_row}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {

namespace {

HWY_EXPORT(find_loss_kernels);

// Calls f(i) for every item i of the logits, in parallel.
template <class F>
void for_items(const Array& logits, F f) {
  const std::int64_t classes = logits.shape()[1];
  parallel_for(0, logits.shape()[0], std::max<std::int64_t>(1, 8192 / classes),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) f(i);
               });
}

}  // namespace

void cross_entropy(const Array& losses, const Array& largest, const Array& sums,
                   const Array& logits, const Array& labels, const Array& ignored, double on,
                   double off) {
  visit_floating("cross_entropy", logits.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto loss = HWY_DYNAMIC_DISPATCH(find_loss_kernels)().of<T>().loss;
    const std::int64_t classes = logits.shape()[1];
    for_items(logits, [&](std::int64_t i) {
      const T value =
          loss(static_cast<std::size_t>(classes), logits.data<T>() + i * classes,
               static_cast<std::size_t>(labels.data<std::int64_t>()[i]), static_cast<T>(on),
               static_cast<T>(off), largest.data<T>()[i], sums.data<T>()[i]);
      losses.data<T>()[i] = ignored.data<bool>()[i] ? T(0) : value;
    });
  });
}

void cross_entropy_backward(const Array& out, const Array& scale, const Array& logits,
                            const Array& labels, const Array& largest, const Array& sums, double on,
                            double off) {
  visit_floating("cross_entropy", logits.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto gradient = HWY_DYNAMIC_DISPATCH(find_loss_kernels)().of<T>().gradient;
    const std::int64_t classes = logits.shape()[1];
    for_items(logits, [&](std::int64_t i) {
      gradient(static_cast<std::size_t>(classes), out.data<T>() + i * classes, scale.data<T>()[i],
               logits.data<T>() + i * classes,
               static_cast<std::size_t>(labels.data<std::int64_t>()[i]), largest.data<T>()[i],
               sums.data<T>()[i], static_cast<T>(on), static_cast<T>(off));
    });
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
