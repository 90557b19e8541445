#include <tend/core/kernels/reduce/statistics.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>

#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/reduce_loop.h>
#include <tend/core/kernels/reduce/reduce_ops.h>
#include <tend/core/kernels/simd/for_types.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/reduce/statistics.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/reduce/reduction.h>
#include <tend/core/kernels/simd/simd_loop.h>
#include <tend/core/kernels/simd/simd_math.h>

#ifndef TEND_CORE_KERNELS_STATISTICS
#define TEND_CORE_KERNELS_STATISTICS
namespace tend::kernels {

/// The moments of a set of numbers. The mean has two parts, so that the difference of two means is
/// exact even if they are large and close to each other.
struct Moments {
  double count, mean, rest_of_mean;
  double squares;  // the sum of squared distances to the mean
};

struct MomentsOf {
  static constexpr bool kInBlocks = true;
  static constexpr Moments identity() { return {0, 0, 0, 0}; }
  static Moments combine(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count, share = b.count / count;
    const double apart = (b.mean - a.mean) + (b.rest_of_mean - a.rest_of_mean);
    const double step = a.rest_of_mean + apart * share;
    const double mean = a.mean + step;
    return {count, mean, step - (mean - a.mean),
            a.squares + b.squares + apart * apart * share * a.count};
  }
};

/// The largest of a set of numbers, and the sum `powers` of exp(x - largest), or of exp(x) if
/// `largest` is infinite.
template <class T>
struct PowerSum {
  T largest, powers;

  explicit operator T() const { return std::log(powers) + (std::isinf(largest) ? 0 : largest); }
};

template <class T>
struct PowerSumOf {
  static constexpr bool kInBlocks = true;
  static constexpr PowerSum<T> identity() { return {-std::numeric_limits<T>::infinity(), 0}; }
  static PowerSum<T> combine(const PowerSum<T>& a, const PowerSum<T>& b) {
    const bool a_is_less = a.largest < b.largest;
    const PowerSum<T>&less = a_is_less ? a : b, &more = a_is_less ? b : a;
    // An infinite result stays infinite, whatever is added to it.
    const T factor = std::isinf(more.largest) ? 1 : std::exp(less.largest - more.largest);
    return {more.largest, more.powers + factor * less.powers};
  }
};

template <class T>
struct Statistics {
  ReduceBlock<MomentsOf, T> moments;
  ReduceBlock<PowerSumOf<T>, T> power_sum;
};

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

/// Computes block[j] = of_run(the `count` elements of sum j, count). If the sums are next to each
/// other in memory, it calls of_rows(block, from, count, down, width) instead. See ReduceBlock;
/// `count` is at most kBlock.
template <class Acc, class T, class OfRun, class OfRows>
HWY_INLINE void for_sums(Acc* block, const T* from, std::int64_t count, std::int64_t down,
                         std::int64_t width, std::int64_t across, OfRun of_run, OfRows of_rows) {
  if (across == 1 && down != 1) return of_rows(block, from, count, down, width);
  for (std::int64_t j = 0; j < width; ++j) {
    T run[detail::kBlock];
    const T* const sum = from + j * across;
    for (std::int64_t i = 0; down != 1 && i < count; ++i) run[i] = sum[i * down];
    block[j] = of_run(down == 1 ? sum : run, count);
  }
}

/// Reduces a few numbers from left to right, and more numbers in lanes.
template <class Op, class T>
HWY_INLINE Accumulator<Op> sum_of_run(const T* from, std::int64_t count) {
  if (count >= detail::kInOrder) return reduce_run<Op>(from, count);
  Accumulator<Op> sum = Op::identity();
  for (std::int64_t i = 0; i < count; ++i) sum = Op::combine(sum, Op::load(from[i]));
  return sum;
}

/// The moments of `count` numbers. `distances` is the sum of their distances from `middle`, and
/// `squares` is the sum of the squared distances.
HWY_INLINE Moments moments_from(double count, double middle, double distances, double squares) {
  const double rest = distances / count;
  // If only the squares overflow, infinity - infinity would be NaN.
  const bool overflows = std::isinf(squares) && std::isfinite(distances);
  return {count, middle, rest, overflows ? squares : squares - distances * rest};
}

// True if distances are measured from the mean of a block. float64 needs the mean, so that the
// squares are precise. float32 is summed in float64, where distances from any number of the block
// are precise enough: the squares are at most `count` times the squares from the mean. A number of
// the block is also used if the mean overflows.
template <class T>
inline constexpr bool kFromMean = sizeof(T) == 8;

HWY_INLINE double middle_of(double mean, double number) {
  return std::isfinite(mean) ? mean : number;
}

/// Adds the distances of kRows numbers from middle[j] to distances[j], and their squares to
/// squares[j].
template <std::int64_t kRows, class T>
HWY_INLINE void add_distances(double* distances, double* squares, const double* middle,
                              const T* rows, std::int64_t step, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) {
    double sum = 0, square = 0;
    for (std::int64_t i = 0; i < kRows; ++i) {
      const double distance = static_cast<double>(rows[i * step + j]) - middle[j];
      sum += distance;
      square += distance * distance;
    }
    distances[j] += sum;
    squares[j] += square;
  }
}

template <class T>
void moments_block(Moments* block, const T* from, std::int64_t count, std::int64_t down,
                   std::int64_t width, std::int64_t across) {
  const double number = static_cast<double>(count);
  const auto of_run = [number](const T* run, std::int64_t n) {
    // NOLINTBEGIN(clang-analyzer-core.*): a run has numbers
    const double middle =
        kFromMean<T> ? middle_of(sum_of_run<Sum<double>>(run, n) / number, run[0]) : run[0];
    // NOLINTEND(clang-analyzer-core.*)
    double distances[detail::kBlock];
    for (std::int64_t i = 0; i < n; ++i) distances[i] = static_cast<double>(run[i]) - middle;
    return moments_from(number, middle, sum_of_run<Sum<double>>(distances, n),
                        sum_of_run<SquareSum<double>>(distances, n));
  };
  const auto of_rows = [number](Moments* to, const T* rows, std::int64_t n, std::int64_t step,
                                std::int64_t columns) {
    constexpr std::int64_t kWidth = detail::kStripWidth<Moments>;
    double middle[kWidth] = {}, distances[kWidth] = {}, squares[kWidth] = {};
    if constexpr (kFromMean<T>) {
      reduce_block<Sum<double>>(middle, rows, n, step, columns, 1);
      for (std::int64_t j = 0; j < columns; ++j) middle[j] = middle_of(middle[j] / number, rows[j]);
    } else {
      std::copy_n(rows, columns, middle);
    }
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4)
      add_distances<4>(distances, squares, middle, rows + i * step, step, columns);
    for (; i < n; ++i) add_distances<1>(distances, squares, middle, rows + i * step, step, columns);
    for (std::int64_t j = 0; j < columns; ++j)
      to[j] = moments_from(number, middle[j], distances[j], squares[j]);
  };
  if (count == 0) {
    std::fill_n(block, width, MomentsOf::identity());
  } else {
    for_sums(block, from, count, down, width, across, of_run, of_rows);
  }
}

/// The number that is subtracted from all numbers before their exponentials are computed.
template <class T>
HWY_INLINE T finite_or_zero(T largest) {
  return std::isinf(largest) ? 0 : largest;
}

template <class T>
void power_sum_block(PowerSum<T>* block, const T* from, std::int64_t count, std::int64_t down,
                     std::int64_t width, std::int64_t across) {
  const auto of_run = [](const T* run, std::int64_t n) {
    const T largest = sum_of_run<Largest<T>>(run, n), taken = finite_or_zero(largest);
    T powers[detail::kBlock];
    for_row_vectors<T>(static_cast<std::size_t>(n), [&](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(exp(d, hn::Sub(hn::LoadU(d, run + i), hn::Set(d, taken))), d, powers + i);
    });
    return PowerSum<T>{largest, sum_of_run<Sum<T>>(powers, n)};
  };
  const auto of_rows = [](PowerSum<T>* to, const T* rows, std::int64_t n, std::int64_t step,
                          std::int64_t columns) {
    constexpr std::int64_t kWidth = detail::kStripWidth<PowerSum<T>>;
    T largest[kWidth], taken[kWidth], powers[kWidth] = {};
    reduce_block<Largest<T>>(largest, rows, n, step, columns, 1);
    for (std::int64_t j = 0; j < columns; ++j) taken[j] = finite_or_zero(largest[j]);
    for (std::int64_t i = 0; i < n; ++i) {
      const T* const row = rows + i * step;
      for_row_vectors<T>(static_cast<std::size_t>(columns), [&](auto d, std::size_t j) HWY_ATTR {
        const auto power = exp(d, hn::Sub(hn::LoadU(d, row + j), hn::LoadU(d, taken + j)));
        hn::StoreU(hn::Add(hn::LoadU(d, powers + j), power), d, powers + j);
      });
    }
    for (std::int64_t j = 0; j < columns; ++j) to[j] = {largest[j], powers[j]};
  };
  for_sums(block, from, count, down, width, across, of_run, of_rows);
}

const ForTypes<Statistics>& find_statistics() {
  static constexpr ForTypes<Statistics> kAll = {{moments_block<float>, power_sum_block<float>},
                                                {moments_block<double>, power_sum_block<double>}};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_statistics);

template <class T>
const Statistics<T>& statistics() {
  return HWY_DYNAMIC_DISPATCH(find_statistics)().of<T>();
}

template <class T, class Out>
void var_typed(const Array& out, const Array& a, const Shape& dims, double correction) {
  const double total = static_cast<double>(reduced_count(a.shape(), dims));
  const double freedom = std::max(0.0, total - correction);
  Out* const to = out.data<Out>();
  reduce_to<MomentsOf>(out, a, dims, statistics<T>().moments,
                       [=](std::int64_t offset, const Moments& found) {
                         to[offset] = static_cast<Out>(found.squares / freedom);
                       });
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

void moments(const Array& means, const Array& variances, const Array& a, const Shape& dims) {
  assert(means.dtype() == a.dtype() && variances.dtype() == a.dtype());
  assert(means.shape() == variances.shape() && means.strides() == variances.strides());
  visit_floating("moments", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *const mean_at = means.data<T>(), *const variance_at = variances.data<T>();
    std::atomic<bool> is_finite = true;
    reduce_to<MomentsOf>(means, a, dims, statistics<T>().moments,
                         [=, &is_finite](std::int64_t offset, const Moments& found) {
                           mean_at[offset] = static_cast<T>(found.mean + found.rest_of_mean);
                           variance_at[offset] = static_cast<T>(found.squares / found.count);
                           if (!std::isfinite(mean_at[offset])) is_finite = false;
                         });
    if (!is_finite) mean(means, a, dims);  // `found` may have NaN where the mean is infinite
  });
}

void log_sum_exp(const Array& out, const Array& a, const Shape& dims) {
  assert(out.dtype() == a.dtype());
  visit_floating("log_sum_exp", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    reduce<PowerSumOf<T>, T, T>(out, a, dims, statistics<T>().power_sum);
  });
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
