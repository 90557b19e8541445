#include <tend/core/kernels/reduce/scan.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/reduce_loop.h>

namespace tend::kernels {
namespace {

// Calls f(count, pointers, steps, to_stride, from_stride, length) for runs of lines along `dim`.
template <class F>
void for_line_runs(const Array& out, const Array& a, std::int64_t dim, F f) {
  if (out.numel() == 0) return;
  const Array from = at_least_1d(a), to = at_least_1d(out);
  const Array first_from = from.select(dim, 0), first_to = to.select(dim, 0);
  const std::int64_t length = to.size(dim);
  const std::int64_t to_stride = to.strides()[dim], from_stride = from.strides()[dim];
  StridedLoop<2>({&first_to, &first_from})
      .run([=](std::int64_t count, const auto& p,
               const auto& step) { f(count, p, step, to_stride, from_stride, length); },
           std::max<std::int64_t>(1, kElementGrain / length));
}

// Calls f(to, to_stride, from, from_stride, length) for each line of both arrays along `dim`.
template <class T, class F>
void for_lines(const Array& out, const Array& a, std::int64_t dim, F f) {
  for_line_runs(out, a, dim,
                [f](std::int64_t count, const auto& p, const auto& step, std::int64_t to_stride,
                    std::int64_t from_stride, std::int64_t length) {
                  for (std::int64_t i = 0; i < count; ++i) {
                    f(reinterpret_cast<T*>(p[0] + i * step[0]), to_stride,
                      reinterpret_cast<const T*>(p[1] + i * step[1]), from_stride, length);
                  }
                });
}

// Scans lines that are side by side, several at a time, so that their totals stay in the cache.
template <class Combine, class Total, class T>
void scan_side_by_side(std::int64_t count, T* to, std::int64_t to_stride, const T* from,
                       std::int64_t from_stride, std::int64_t length, Total first) {
  constexpr std::int64_t kLines = 64;
  for (std::int64_t left = 0; left < count; left += kLines) {
    const std::int64_t n = std::min(kLines, count - left);
    std::array<Total, kLines> totals;
    totals.fill(first);
    for (std::int64_t j = 0; j < length; ++j) {
      const T* terms = from + left + j * from_stride;
      T* sums = to + left + j * to_stride;
      for (std::int64_t i = 0; i < n; ++i) {
        Total& total = totals[static_cast<std::size_t>(i)];
        total = Combine()(total, static_cast<Total>(terms[i]));
        sums[i] = static_cast<T>(total);
      }
    }
  }
}

template <class Combine, class Total, class T>
void scan_line(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride,
               std::int64_t length, Total total) {
  for (std::int64_t j = 0; j < length; ++j) {
    total = Combine()(total, static_cast<Total>(from[j * from_stride]));
    to[j * to_stride] = static_cast<T>(total);
  }
}

// out[j] = combine(out[j - 1], a[j]) along `dim`, where out[-1] counts as `first`.
template <template <class> class Combine>
void scan(const Array& out, const Array& a, std::int64_t dim, int first) {
  assert(out.dtype() == sum_dtype(a.dtype()));
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Scans of float32 accumulate in double, as in PyTorch.
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
    const auto start = static_cast<Total>(first);
    const auto run = [start](std::int64_t count, const auto& p, const auto& step,
                             std::int64_t to_stride, std::int64_t from_stride,
                             std::int64_t length) {
      if (count > 1 && step[0] == sizeof(T) && step[1] == sizeof(T)) {
        return scan_side_by_side<Combine<Total>>(count, reinterpret_cast<T*>(p[0]), to_stride,
                                                 reinterpret_cast<const T*>(p[1]), from_stride,
                                                 length, start);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        scan_line<Combine<Total>>(reinterpret_cast<T*>(p[0] + i * step[0]), to_stride,
                                  reinterpret_cast<const T*>(p[1] + i * step[1]), from_stride,
                                  length, start);
      }
    };
    for_line_runs(out, a.to(out.dtype()), dim, run);
  });
}

}  // namespace

void cumsum(const Array& out, const Array& a, std::int64_t dim) {
  scan<std::plus>(out, a, dim, 0);
}

void cumprod(const Array& out, const Array& a, std::int64_t dim) {
  scan<std::multiplies>(out, a, dim, 1);
}

namespace {

// True if x replaces the best element so far. Equal elements do, and so does every NaN.
template <bool kLargest, class T>
bool replaces(T x, T best) {
  return (kLargest ? x >= best : x <= best) | (x != x);  // | lets compilers vectorise, || does not
}

// The length of the lines along `dim`, and the strides along them in elements.
struct ExtremeLines {
  std::int64_t length, value_stride, index_stride, from_stride;
};

template <bool kLargest, class T>
void running_extreme(T* value, std::int64_t* index, const T* from, const ExtremeLines& lines) {
  constexpr std::int64_t kBlock = 16;
  const bool contiguous =
      lines.value_stride == 1 && lines.index_stride == 1 && lines.from_stride == 1;
  T best = from[0];
  std::int64_t place = 0;
  for (std::int64_t first = 0; first < lines.length; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, lines.length);
    if (contiguous && end == first + kBlock) {
      unsigned hits = 0;  // most blocks have no hits
      for (std::int64_t k = 0; k < kBlock; ++k) hits |= replaces<kLargest>(from[first + k], best);
      if (hits == 0) {
        std::fill_n(value + first, kBlock, best);
        std::fill_n(index + first, kBlock, place);
        continue;
      }
    }
    for (std::int64_t j = first; j < end; ++j) {
      const T x = from[j * lines.from_stride];
      if (replaces<kLargest>(x, best)) {
        best = x;
        place = j;
      }
      value[j * lines.value_stride] = best;
      index[j * lines.index_stride] = place;
    }
  }
}

// As running_extreme, for `count` lines side by side, several at a time.
template <bool kLargest, class T>
void running_extremes(std::int64_t count, T* values, std::int64_t* indices, const T* from,
                      const ExtremeLines& lines) {
  constexpr std::int64_t kLines = 64;
  for (std::int64_t left = 0; left < count; left += kLines) {
    const auto n = static_cast<std::size_t>(std::min(kLines, count - left));
    std::array<T, kLines> best;
    std::array<Index<T>, kLines> places{};
    std::copy_n(from + left, n, best.begin());
    for (std::int64_t j = 0; j < lines.length; ++j) {
      const T* row = from + left + j * lines.from_stride;
      T* value = values + left + j * lines.value_stride;
      std::int64_t* index = indices + left + j * lines.index_stride;
      for (std::size_t i = 0; i < n; ++i) {
        const bool is_better = replaces<kLargest>(row[i], best[i]);
        best[i] = is_better ? row[i] : best[i];
        places[i] = is_better ? static_cast<Index<T>>(j) : places[i];
      }
      std::copy_n(best.begin(), n, value);
      std::copy_n(places.begin(), n, index);
    }
  }
}

template <bool kLargest, class T>
void running_extremes_of(const Array& values, const Array& indices, const Array& a,
                         std::int64_t dim) {
  const Array value = values.select(dim, 0), index = indices.select(dim, 0),
              from = a.select(dim, 0);
  const ExtremeLines lines{a.size(dim), values.strides()[dim], indices.strides()[dim],
                           a.strides()[dim]};
  const auto run = [lines](std::int64_t count, const auto& p, const auto& step) {
    const auto at = [&](std::int64_t i) {
      return std::tuple(reinterpret_cast<T*>(p[0] + i * step[0]),
                        reinterpret_cast<std::int64_t*>(p[1] + i * step[1]),
                        reinterpret_cast<const T*>(p[2] + i * step[2]));
    };
    const bool side_by_side = step[0] == sizeof(T) && step[1] == 8 && step[2] == sizeof(T);
    if (count > 1 && side_by_side && lines.length <= std::numeric_limits<std::int32_t>::max()) {
      const auto [to, places, line] = at(0);
      return running_extremes<kLargest>(count, to, places, line, lines);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto [to, places, line] = at(i);
      running_extreme<kLargest>(to, places, line, lines);
    }
  };
  StridedLoop<3>({&value, &index, &from})
      .run(run, std::max<std::int64_t>(1, kElementGrain / lines.length));
}

}  // namespace

void cumulative_extreme(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
                        bool largest) {
  assert(values.dtype() == a.dtype() && indices.dtype() == int64);
  if (a.numel() == 0) return;
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    (largest ? running_extremes_of<true, T> : running_extremes_of<false, T>)(at_least_1d(values),
                                                                             at_least_1d(indices),
                                                                             at_least_1d(a), dim);
  });
}

void logcumsumexp(const Array& out, const Array& a, std::int64_t dim) {
  assert(out.dtype() == a.dtype());
  visit_floating("logcumsumexp", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_lines<T>(
        out, a, dim,
        [](T* to, std::int64_t to_stride, const T* from, std::int64_t stride, std::int64_t length) {
          // The sum so far is total * exp(largest).
          double largest = -std::numeric_limits<double>::infinity(), total = 0;
          for (std::int64_t i = 0; i < length; ++i) {
            const auto x = static_cast<double>(from[i * stride]);
            if (x == largest) {  // also for infinities, whose difference is NaN
              total += 1;
            } else if (x < largest) {
              total += std::exp(x - largest);
            } else {
              total = total * std::exp(largest - x) + 1;
              largest = x;
            }
            to[i * to_stride] = static_cast<T>(largest + std::log(total));
          }
        });
  });
}

}  // namespace tend::kernels
