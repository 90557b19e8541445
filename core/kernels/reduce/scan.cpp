#include <tend/core/kernels/reduce/scan.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend::kernels {
namespace {

// f(count, pointers, steps, to_stride, from_stride, length) for runs of lines along `dim`.
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

// f(to, to_stride, from, from_stride, length) for each line of both arrays along `dim`.
template <class Out, class T, class F>
void for_lines(const Array& out, const Array& a, std::int64_t dim, F f) {
  for_line_runs(out, a, dim,
                [f](std::int64_t count, const auto& p, const auto& step, std::int64_t to_stride,
                    std::int64_t from_stride, std::int64_t length) {
                  for (std::int64_t i = 0; i < count; ++i) {
                    f(reinterpret_cast<Out*>(p[0] + i * step[0]), to_stride,
                      reinterpret_cast<const T*>(p[1] + i * step[1]), from_stride, length);
                  }
                });
}

// Lines that lie side by side, of which some go down together: their totals stay in the cache.
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
    // PyTorch's float32 scans carry a double, too.
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

void cumulative_extreme(const Array& out, const Array& a, std::int64_t dim, bool largest) {
  assert(out.dtype() == int64);
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_lines<std::int64_t, T>(out, a, dim,
                               [largest](std::int64_t* to, std::int64_t to_stride, const T* from,
                                         std::int64_t stride, std::int64_t length) {
                                 std::int64_t found = 0;
                                 for (std::int64_t i = 0; i < length; ++i) {
                                   const T x = from[i * stride], best = from[found * stride];
                                   // Not <: a NaN replaces every number, and stays until the next
                                   // NaN.
                                   if (best == best && !(largest ? x < best : x > best)) found = i;
                                   if (best != best && x != x) found = i;
                                   to[i * to_stride] = found;
                                 }
                               });
  });
}

void logcumsumexp(const Array& out, const Array& a, std::int64_t dim) {
  assert(out.dtype() == a.dtype());
  visit_floating("logcumsumexp", a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_lines<T, T>(
        out, a, dim,
        [](T* to, std::int64_t to_stride, const T* from, std::int64_t stride, std::int64_t length) {
          // The sum so far is total * exp(largest).
          double largest = -std::numeric_limits<double>::infinity(), total = 0;
          for (std::int64_t i = 0; i < length; ++i) {
            const auto x = static_cast<double>(from[i * stride]);
            if (x == largest) {  // also of infinities, whose difference is NaN
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
