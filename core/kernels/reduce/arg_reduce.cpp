// The largest and smallest elements along a dimension, with their indices.
#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend::kernels {
namespace {

// Whether x takes the place of the best element so far: NaN is better than every number.
template <bool kLargest, class T>
bool is_better(T x, T best) {
  const bool better = kLargest ? x > best : x < best;
  if constexpr (std::is_floating_point_v<T>) return better || (x != x && best == best);
  return better;
}

// The index of the first best element of a line: finds the best of every 16th element side by side,
// then the first that is equal to the best of those.
template <bool kLargest, class T>
std::int64_t best_index(const T* line, std::int64_t length, std::int64_t stride) {
  constexpr std::int64_t kLanes = 16;
  T best = line[0];
  if (stride == 1 && length >= kLanes) {
    std::array<T, kLanes> lanes;
    std::copy_n(line, kLanes, lanes.begin());
    std::int64_t i = kLanes;
    for (; i + kLanes <= length; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        const T x = line[i + static_cast<std::int64_t>(k)];
        lanes[k] = is_better<kLargest>(x, lanes[k]) ? x : lanes[k];
      }
    }
    for (const T x : lanes) best = is_better<kLargest>(x, best) ? x : best;
    for (; i < length; ++i) best = is_better<kLargest>(line[i], best) ? line[i] : best;
  } else {
    for (std::int64_t i = 1; i < length; ++i) {
      if (is_better<kLargest>(line[i * stride], best)) best = line[i * stride];
    }
  }
  std::int64_t i = 0;
  if (best != best) {
    while (line[i * stride] == line[i * stride]) ++i;
  } else {
    while (line[i * stride] != best) ++i;
  }
  return i;
}

// The same for lines that lie side by side, of which some are looked through together.
template <bool kLargest, class T>
void best_side_by_side(std::int64_t count, std::int64_t* to, const T* from, std::int64_t stride,
                       std::int64_t length) {
  constexpr std::int64_t kLines = 64;
  // As wide as the elements, so that both are compared and chosen in vectors of as many.
  using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  for (std::int64_t left = 0; left < count; left += kLines) {
    const std::int64_t n = std::min(kLines, count - left);
    std::array<T, kLines> best;
    std::array<Place, kLines> places{};
    std::copy_n(from + left, n, best.begin());
    for (std::int64_t j = 1; j < length; ++j) {
      const T* row = from + left + j * stride;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool better = is_better<kLargest>(row[i], best[at]);
        best[at] = better ? row[i] : best[at];
        places[at] = better ? static_cast<Place>(j) : places[at];
      }
    }
    std::copy_n(places.begin(), n, to + left);
  }
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
    StridedLoop<2>({&to, &lines})
        .run(
            [=](std::int64_t count, const auto& p, const auto& step) {
              constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
              const bool side_by_side = step[0] == 8 && step[1] == sizeof(T) && count > 1;
              if (side_by_side && length <= kMost) {
                return best_side_by_side<kLargest>(count, reinterpret_cast<std::int64_t*>(p[0]),
                                                   reinterpret_cast<const T*>(p[1]), stride,
                                                   length);
              }
              for (std::int64_t i = 0; i < count; ++i) {
                *reinterpret_cast<std::int64_t*>(p[0] + i * step[0]) = best_index<kLargest>(
                    reinterpret_cast<const T*>(p[1] + i * step[1]), length, stride);
              }
            },
            kElementGrain / length + 1);
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
