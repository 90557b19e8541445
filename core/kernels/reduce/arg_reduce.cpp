// The largest and smallest elements along a dimension, with their indices.
#include <tend/core/kernels/reduce/arg_reduce.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/reduce_loop.h>
#include <tend/core/kernels/reduce/reduce_ops.h>

#include <tend/core/kernels/simd/simd_targets.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/reduce/arg_reduce.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>
#include <tend/core/kernels/reduce/reduction.h>

#ifndef TEND_CORE_KERNELS_ARG_REDUCE
#define TEND_CORE_KERNELS_ARG_REDUCE
namespace tend::kernels {

// Functions that find the index of the first best element. `line` searches one contiguous line.
// `side_by_side` searches `count` adjacent lines, several at once. Element 0 of an array is for the
// smallest elements, element 1 for the largest.
template <class T>
struct BestOf {
  using Line = std::int64_t (*)(const T* line, std::int64_t length);
  using SideBySide = void (*)(std::int64_t count, std::int64_t* to, const T* from,
                              std::int64_t stride, std::int64_t length);
  std::array<Line, 2> line;
  std::array<SideBySide, 2> side_by_side;
};
struct BestOfAll : BestOf<float>, BestOf<double>, BestOf<std::int64_t>, BestOf<bool> {};

}  // namespace tend::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace tend::kernels::HWY_NAMESPACE {
namespace {

// The index of the first element with is_it(element). There must be such an element.
template <class T, class F>
std::int64_t first_index(const T* line, std::int64_t length, F is_it) {
  constexpr std::int64_t kBlock = 64;
  std::int64_t i = 0;
  for (; i + kBlock <= length; i += kBlock) {
    Index<T> hits = 0;  // the loop does not stop at a hit, so that compilers vectorise it
    for (std::int64_t k = 0; k < kBlock; ++k) hits |= is_it(line[i + k]);
    if (hits != 0) break;
  }
  while (!is_it(line[i])) ++i;
  return i;
}

template <bool kLargest, class T>
std::int64_t best_in_line(const T* line, std::int64_t length) {
  const T best = reduce_run<Extreme<T, kLargest>>(line, length);
  if (best != best) return first_index(line, length, [](T x) { return x != x; });
  return first_index(line, length, [best](T x) { return x == best; });
}

template <bool kLargest, class T>
void best_side_by_side(std::int64_t count, std::int64_t* to, const T* from, std::int64_t stride,
                       std::int64_t length) {
  constexpr std::int64_t kLines = 64;
  for (std::int64_t left = 0; left < count; left += kLines) {
    const std::int64_t n = std::min(kLines, count - left);
    std::array<T, kLines> best;
    std::array<Index<T>, kLines> places{};
    std::copy_n(from + left, n, best.begin());
    for (std::int64_t j = 1; j < length; ++j) {
      const T* row = from + left + j * stride;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool nan = (row[i] != row[i]) & (best[at] == best[at]);
        const bool better = (kLargest ? row[i] > best[at] : row[i] < best[at]) | nan;
        best[at] = better ? row[i] : best[at];
        places[at] = better ? static_cast<Index<T>>(j) : places[at];
      }
    }
    std::copy_n(places.begin(), n, to + left);
  }
}

template <class T>
constexpr BestOf<T> best_of() {
  return {{best_in_line<false, T>, best_in_line<true, T>},
          {best_side_by_side<false, T>, best_side_by_side<true, T>}};
}

const BestOfAll& find_best_of() {
  static constexpr BestOfAll kAll = {best_of<float>(), best_of<double>(), best_of<std::int64_t>(),
                                     best_of<bool>()};
  return kAll;
}

}  // namespace
}  // namespace tend::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tend::kernels {
namespace {

HWY_EXPORT(find_best_of);

// True if x is better than the best element so far. NaN is better than every number.
template <bool kLargest, class T>
bool is_better(T x, T best) {
  const bool better = kLargest ? x > best : x < best;
  if constexpr (std::is_floating_point_v<T>) return better || (x != x && best == best);
  return better;
}

// The index of the first best element of a line whose elements are not neighbours.
template <bool kLargest, class T>
std::int64_t best_of_strided(const T* line, std::int64_t length, std::int64_t stride) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < length; ++i) {
    if (is_better<kLargest>(line[i * stride], line[best * stride])) best = i;
  }
  return best;
}

template <bool kLargest>
void best_of_lines(const char* name, const Array& indices, const Array& a, std::int64_t dim) {
  assert(indices.dtype() == int64);
  if (a.rank() == 0) return indices.fill(0);
  const std::int64_t length = a.shape()[dim], stride = a.strides()[dim];
  if (length == 0) fail<ShapeError>(name, "dimension ", dim, " of ", a.shape(), " is empty");
  if (a.numel() == 0) return;
  const Array to = indices.rank() == a.rank() ? indices.select(dim, 0) : indices;
  const Array lines = a.select(dim, 0);
  visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const BestOf<T>& best = HWY_DYNAMIC_DISPATCH(find_best_of)();
    const auto run = [=](std::int64_t count, const auto& p, const auto& step) {
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      auto* index = reinterpret_cast<std::int64_t*>(p[0]);
      if (step[0] == 8 && step[1] == sizeof(T) && count > 1 && length <= kMost) {
        return best.side_by_side[kLargest](count, index, reinterpret_cast<const T*>(p[1]), stride,
                                           length);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* line = reinterpret_cast<const T*>(p[1] + i * step[1]);
        *reinterpret_cast<std::int64_t*>(p[0] + i * step[0]) =
            stride == 1 ? best.line[kLargest](line, length)
                        : best_of_strided<kLargest>(line, length, stride);
      }
    };
    StridedLoop<2>({&to, &lines}).run(run, kElementGrain / length + 1);
  });
}

template <bool kLargest>
void best_index_of(const char* name, const Array& out, const Array& a,
                   std::optional<std::int64_t> dim) {
  if (dim) return best_of_lines<kLargest>(name, out, a, *dim);
  if (a.numel() == 0) fail<ShapeError>(name, a.shape(), " has no elements");
  const Array flat = a.reshape({-1});
  best_of_lines<kLargest>(name, out.reshape({}), flat, 0);
}

template <bool kLargest>
void best(const char* name, const Array& values, const Array& indices, const Array& a,
          std::int64_t dim) {
  assert(values.dtype() == a.dtype());
  best_of_lines<kLargest>(name, indices, a, dim);
  const auto keep_dim = [&](const Array& x) { return x.rank() < a.rank() ? x.unsqueeze(dim) : x; };
  gather(keep_dim(values), a, dim, keep_dim(indices));
}

}  // namespace

void max(const Array& values, const Array& indices, const Array& a, std::int64_t dim) {
  best<true>("max", values, indices, a, dim);
}

void min(const Array& values, const Array& indices, const Array& a, std::int64_t dim) {
  best<false>("min", values, indices, a, dim);
}

void argmax(const Array& out, const Array& a, std::optional<std::int64_t> dim) {
  best_index_of<true>("argmax", out, a, dim);
}

void argmin(const Array& out, const Array& a, std::optional<std::int64_t> dim) {
  best_index_of<false>("argmin", out, a, dim);
}

}  // namespace tend::kernels
#endif  // HWY_ONCE
