#include <tend/core/kernels/reduce/distances.h>

#include <cmath>
#include <limits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/simd/for_types.h>
#include <tend/core/threads/parallel.h>

#ifndef TEND_CORE_KERNELS_DISTANCES
#define TEND_CORE_KERNELS_DISTANCES
namespace tend::kernels {

enum class Metric { count, absolute, square, largest };

// A row and `count` other rows, all of `size` elements. Rows are padded with zeros to a multiple of
// kRowStep elements, because zeros do not change a distance.
inline constexpr std::int64_t kRowStep = 16;
template <class T>
struct RowAndRows {
  std::int64_t size, count;
  const T* row;
  const T* others;
};

template <class T>
struct DistanceKernels {
  // out[j] = the distance to row j
  void (*measure)(Metric metric, const RowAndRows<T>& rows, T* out);
  // grad_row += grad[j] * the derivative of found[j], which is the distance to row j
  void (*differentiate)(Metric metric, const RowAndRows<T>& rows, const T* grad, const T* found,
                        T* grad_row);
};

}  // namespace tend::kernels
#endif

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/reduce/distances.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/simd/simd_rows.h>

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The sign of each lane, or NaN for NaN.
template <class D, class V>
HWY_INLINE V sign_of(D d, V x) {
  const V zero = hn::Zero(d), one = hn::Set(d, hn::TFromD<D>(1));
  const V sign =
      hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
  return hn::IfThenElse(hn::IsNaN(x), x, sign);
}

// Adds the contribution of a difference to a lane's total.
template <Metric kMetric, class D, class V>
HWY_INLINE V add_term(D d, V total, V difference) {
  if constexpr (kMetric == Metric::count) {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V term = hn::IfThenElse(hn::IsNaN(difference), difference, one);
    return hn::Add(total, hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), term));
  } else if constexpr (kMetric == Metric::absolute) {
    return hn::Add(total, hn::Abs(difference));
  } else if constexpr (kMetric == Metric::square) {
    return hn::MulAdd(difference, difference, total);
  } else {
    const V size = hn::Abs(difference);  // NaN stays, because no size is larger
    return hn::IfThenElse(hn::Or(hn::Gt(size, total), hn::IsNaN(size)), size, total);
  }
}

template <Metric kMetric, class D, class V>
HWY_INLINE hn::TFromD<D> distance_of(D d, V totals) {
  using T = hn::TFromD<D>;
  if constexpr (kMetric == Metric::largest) {
    if (!hn::AllFalse(d, hn::IsNaN(totals))) return std::numeric_limits<T>::quiet_NaN();
    return hn::GetLane(hn::MaxOfLanes(d, totals));
  } else {
    const T sum = hn::GetLane(hn::SumOfLanes(d, totals));
    return kMetric == Metric::square ? std::sqrt(sum) : sum;
  }
}

// Computes the distances to kRows rows. Their totals need not wait for one another.
template <Metric kMetric, std::int64_t kRows, class T>
HWY_INLINE void measure_rows(const RowAndRows<T>& rows, std::int64_t first, T* out) {
  const RowTag<T> d;
  const T* const others = rows.others + first * rows.size;
  hn::Vec<RowTag<T>> totals[kRows];
  for (auto& total : totals) total = hn::Zero(d);
  for (std::int64_t i = 0; i < rows.size; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto x = hn::LoadU(d, rows.row + i);
    for (std::int64_t r = 0; r < kRows; ++r) {
      const auto y = hn::LoadU(d, others + r * rows.size + i);
      totals[r] = add_term<kMetric>(d, totals[r], hn::Sub(x, y));
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) out[first + r] = distance_of<kMetric>(d, totals[r]);
}

template <Metric kMetric, class T>
void measure_all(const RowAndRows<T>& rows, T* out) {
  constexpr std::int64_t kTogether = 4;
  std::int64_t j = 0;
  for (; j + kTogether <= rows.count; j += kTogether)
    measure_rows<kMetric, kTogether>(rows, j, out);
  for (; j < rows.count; ++j) measure_rows<kMetric, 1>(rows, j, out);
}

// The derivative of a distance with respect to a difference, up to a factor.
template <Metric kMetric, class D, class V>
HWY_INLINE V slope_of(D d, V difference, V distance) {
  if constexpr (kMetric == Metric::square) return difference;
  const V sign = sign_of(d, difference);
  if constexpr (kMetric == Metric::absolute) return sign;
  return hn::IfThenElseZero(hn::Eq(hn::Abs(difference), distance), sign);
}

template <Metric kMetric, class T>
void differentiate_all(const RowAndRows<T>& rows, const T* grad, const T* found, T* grad_row) {
  const RowTag<T> d;
  for (std::int64_t j = 0; j < rows.count; ++j) {
    const T* const other = rows.others + j * rows.size;
    const T size = found[j];
    if (kMetric == Metric::square && size == 0) continue;
    const auto factor = hn::Set(d, kMetric == Metric::square ? grad[j] / size : grad[j]);
    const auto distance = hn::Set(d, size);
    for (std::int64_t i = 0; i < rows.size; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto difference = hn::Sub(hn::LoadU(d, rows.row + i), hn::LoadU(d, other + i));
      const auto slope = slope_of<kMetric>(d, difference, distance);
      hn::StoreU(hn::MulAdd(factor, slope, hn::LoadU(d, grad_row + i)), d, grad_row + i);
    }
  }
}

template <class T>
void measure(Metric metric, const RowAndRows<T>& rows, T* out) {
  switch (metric) {
    case Metric::count: return measure_all<Metric::count>(rows, out);
    case Metric::absolute: return measure_all<Metric::absolute>(rows, out);
    case Metric::square: return measure_all<Metric::square>(rows, out);
    case Metric::largest: return measure_all<Metric::largest>(rows, out);
  }
}

template <class T>
void differentiate(Metric metric, const RowAndRows<T>& rows, const T* grad, const T* found,
                   T* grad_row) {
  switch (metric) {
    case Metric::count: return;
    case Metric::absolute: return differentiate_all<Metric::absolute>(rows, grad, found, grad_row);
    case Metric::square: return differentiate_all<Metric::square>(rows, grad, found, grad_row);
    case Metric::largest: return differentiate_all<Metric::largest>(rows, grad, found, grad_row);
  }
}

const ForTypes<DistanceKernels>& find_distance_kernels() {
  static constexpr ForTypes<DistanceKernels> kAll = {{measure, differentiate},
                                                     {measure, differentiate}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_distance_kernels);

Metric metric_of(double p) {
  if (p == 0) return Metric::count;
  if (p == 1) return Metric::absolute;
  return p == 2 ? Metric::square : Metric::largest;
}

// Broadcasts x to the leading dimensions of `like`, and copies the rows one after the other. Adds
// zeros to each row, up to the next multiple of kRowStep.
Array padded_rows(const Array& x, const Array& like) {
  Shape shape = like.shape();
  const std::int64_t rows = x.size(-2), size = x.size(-1);
  shape[shape.rank() - 2] = rows;
  shape[shape.rank() - 1] = size;
  const Array wanted = x.expand(shape);
  const std::int64_t rest = size % kRowStep;
  if (rest == 0) return wanted.contiguous();
  shape[shape.rank() - 1] = size + kRowStep - rest;
  Array padded = Array::zeros(shape, x.dtype());
  padded.narrow(-1, 0, size).copy_from(wanted);
  return padded;
}

// Calls f(rows, i) for each row of `a`, where i counts the rows of all leading dimensions. `rows`
// is row i together with the rows of `b` that it is compared with. Both arrays are padded.
template <class T, class F>
void for_rows(const Array& a, const Array& b, F f) {
  const std::int64_t size = a.size(-1), rows = a.size(-2), count = b.size(-2);
  const std::int64_t all = a.numel() / size, grain = kElementGrain / (count * size) + 1;
  parallel_for(0, all, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* others = b.data<T>() + i / rows * count * size;
      f(RowAndRows<T>{size, count, a.data<T>() + i * size, others}, i);
    }
  });
}

}  // namespace

bool has_distance_kernel(double p) noexcept {
  return p == 0 || p == 1 || p == 2 || p == std::numeric_limits<double>::infinity();
}

void distances(const Array& out, const Array& a, const Array& b, double p) {
  if (out.numel() == 0 || a.size(-1) == 0) return out.fill(0);
  const Array rows_a = padded_rows(a, out), rows_b = padded_rows(b, out);
  visit_floating("distances", out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto measure = HWY_DYNAMIC_DISPATCH(find_distance_kernels)().of<T>().measure;
    for_rows<T>(rows_a, rows_b, [&](const RowAndRows<T>& rows, std::int64_t i) {
      measure(metric_of(p), rows, out.data<T>() + i * rows.count);
    });
  });
}

void distances_backward(const Array& grad_a, const Array& grad, const Array& found, const Array& a,
                        const Array& b, double p) {
  if (grad.numel() == 0 || grad_a.numel() == 0) return grad_a.fill(0);
  const Array rows_a = padded_rows(a, grad), rows_b = padded_rows(b, grad);
  const Array grad_rows = Array::zeros(rows_a.shape(), rows_a.dtype());
  visit_floating("distances", grad.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto differentiate = HWY_DYNAMIC_DISPATCH(find_distance_kernels)().of<T>().differentiate;
    for_rows<T>(rows_a, rows_b, [&](const RowAndRows<T>& rows, std::int64_t i) {
      differentiate(metric_of(p), rows, grad.data<T>() + i * rows.count,
                    found.data<T>() + i * rows.count, grad_rows.data<T>() + i * rows.size);
    });
  });
  grad_a.copy_from(grad_rows.narrow(-1, 0, grad_a.size(-1)));
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
