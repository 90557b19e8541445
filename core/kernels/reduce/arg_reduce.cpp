// The largest and smallest elements along a dimension, with their indices.
#include <cassert>
#include <cmath>

#include <tend/core/kernels/elementwise/loops.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/reduce/reduce.h>

namespace tend::kernels {
namespace {

// The index of the first best element: a NaN, or else the largest (smallest).
template <bool kLargest, class T>
std::int64_t best_index(const T* line, std::int64_t length, std::int64_t stride) {
  std::int64_t best = 0;
  T value = line[0];
  for (std::int64_t i = 0; i < length; ++i) {
    const T x = line[i * stride];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return i;
    }
    if (kLargest ? x > value : x < value) {
      best = i;
      value = x;
    }
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
    StridedLoop<2>({&to, &lines})
        .run(
            [=](std::int64_t count, const auto& p, const auto& step) {
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
