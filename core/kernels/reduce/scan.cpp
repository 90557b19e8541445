#include <tend/core/kernels/reduce/scan.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/index_arrays.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/memory/scratch.h>
#include <tend/core/threads/parallel.h>

namespace tend::kernels {
namespace {

template <class T>
struct Ranked {
  T value;
  std::int64_t index;
};

// NaN is larger than every number.
template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (std::isnan(b) && !std::isnan(a));
  return a < b;
}

// Writes the first `k` of each line along `dim`, in their sorted order.
template <class T>
void rank_lines(std::string_view operation, const Array& values, const Array& indices,
                const Array& a, std::int64_t k, std::int64_t dim, bool descending) {
  const std::int64_t length = a.size(dim);
  const std::int64_t value_stride = values.strides()[dim], index_stride = indices.strides()[dim],
                     a_stride = a.strides()[dim];
  const auto before = [descending](const Ranked<T>& x, const Ranked<T>& y) {
    const bool first = descending ? less(y.value, x.value) : less(x.value, y.value);
    const bool second = descending ? less(x.value, y.value) : less(y.value, x.value);
    return first || (!second && x.index < y.index);
  };
  const Array to = values.select(dim, 0), places = indices.select(dim, 0), from = a.select(dim, 0);
  const auto rank = [&](std::int64_t count, const auto& p, const auto& step) {
    Scratch<Ranked<T>> line = scratch<Ranked<T>>(operation, length);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* source = reinterpret_cast<const T*>(p[2] + i * step[2]);
      for (std::int64_t j = 0; j < length; ++j)
        line[static_cast<std::size_t>(j)] = {source[j * a_stride], j};
      if (k < length) {
        std::partial_sort(line.begin(), line.begin() + k, line.end(), before);
      } else {
        std::sort(line.begin(), line.end(), before);
      }
      auto* value = reinterpret_cast<T*>(p[0] + i * step[0]);
      auto* index = reinterpret_cast<std::int64_t*>(p[1] + i * step[1]);
      for (std::int64_t j = 0; j < k; ++j) {
        value[j * value_stride] = line[static_cast<std::size_t>(j)].value;
        index[j * index_stride] = line[static_cast<std::size_t>(j)].index;
      }
    }
  };
  StridedLoop<3>({&to, &places, &from})
      .run(rank, std::max<std::int64_t>(1, kElementGrain / length / 8));
}

void rank_all(std::string_view operation, const Array& values, const Array& indices, const Array& a,
              std::int64_t k, std::int64_t dim, bool descending) {
  assert(values.dtype() == a.dtype() && indices.dtype() == int64);
  if (values.numel() == 0) return;
  visit_dtype(a.dtype(), [&](auto tag) {
    rank_lines<typename decltype(tag)::type>(operation, at_least_1d(values), at_least_1d(indices),
                                             at_least_1d(a), k, dim, descending);
  });
}

}  // namespace

namespace {

// out[j] = combine(out[j - 1], a[j]) along `dim`, where out[-1] counts as `first`.
template <template <class> class Combine>
void scan(const Array& out, const Array& a, std::int64_t dim, int first) {
  assert(out.dtype() == sum_dtype(a.dtype()));
  if (out.numel() == 0) return;
  const Array from = at_least_1d(a.to(out.dtype())), to = at_least_1d(out);
  const Array first_from = from.select(dim, 0), first_to = to.select(dim, 0);
  const std::int64_t length = to.size(dim);
  visit_dtype(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // PyTorch's float32 scans carry a double, too.
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
    const std::int64_t to_stride = to.strides()[dim], from_stride = from.strides()[dim];
    StridedLoop<2>({&first_to, &first_from})
        .run(
            [=](std::int64_t count, const auto& p, const auto& step) {
              for (std::int64_t i = 0; i < count; ++i) {
                auto* totals = reinterpret_cast<T*>(p[0] + i * step[0]);
                const auto* terms = reinterpret_cast<const T*>(p[1] + i * step[1]);
                Total total = static_cast<Total>(first);
                for (std::int64_t j = 0; j < length; ++j) {
                  total = Combine<Total>()(total, static_cast<Total>(terms[j * from_stride]));
                  totals[j * to_stride] = static_cast<T>(total);
                }
              }
            },
            std::max<std::int64_t>(1, kElementGrain / length));
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

// f(to, to_stride, from, from_stride, length) for each line of both arrays along `dim`.
template <class Out, class T, class F>
void for_lines(const Array& out, const Array& a, std::int64_t dim, F f) {
  if (out.numel() == 0) return;
  const Array from = at_least_1d(a), to = at_least_1d(out);
  const Array first_from = from.select(dim, 0), first_to = to.select(dim, 0);
  const std::int64_t length = to.size(dim);
  const std::int64_t to_stride = to.strides()[dim], from_stride = from.strides()[dim];
  StridedLoop<2>({&first_to, &first_from})
      .run(
          [=](std::int64_t count, const auto& p, const auto& step) {
            for (std::int64_t i = 0; i < count; ++i) {
              f(reinterpret_cast<Out*>(p[0] + i * step[0]), to_stride,
                reinterpret_cast<const T*>(p[1] + i * step[1]), from_stride, length);
            }
          },
          std::max<std::int64_t>(1, kElementGrain / length));
}

}  // namespace

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

void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending) {
  rank_all("sort", values, indices, a, a.rank() == 0 ? 1 : a.size(dim), dim, descending);
}

void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest) {
  const std::int64_t length = a.rank() == 0 ? 1 : a.size(dim);
  if (k < 0 || k > length) {
    fail<ShapeError>("topk", "k = ", k, ", but dimension ", dim, " of ", a.shape(), " has ", length,
                     " elements");
  }
  rank_all("topk", values, indices, a, k, dim, largest);
}

void searchsorted(const Array& out, const Array& rows, const Array& values, bool right) {
  if (out.numel() == 0) return;
  const std::int64_t length = rows.shape().back();
  const std::int64_t values_per_row = rows.rank() == 1 ? values.numel() : values.shape().back();
  visit_number("searchsorted", values.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *row = rows.data<T>(), *value = values.data<T>();
    auto* to = out.data<std::int64_t>();
    // Not <: NaN comes after every number.
    const auto before = [right](T x, T wanted) { return right ? !(x > wanted) : !(x >= wanted); };
    parallel_for(0, out.numel(), kElementGrain / 16, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* first = row + i / values_per_row * length;
        to[i] = std::lower_bound(first, first + length, value[i], before) - first;
      }
    });
  });
}

}  // namespace tend::kernels
