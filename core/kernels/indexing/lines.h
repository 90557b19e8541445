// Moving elements along the lines of arrays in one dimension, to or from places that an int64 index
// names. All arrays have one rank, of at least 1, and there is at least one index.
#pragma once

#include <cstdint>
#include <limits>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// What becomes of an element that is written: the new one, or a combination of the two, in which
/// NaN counts as the largest and as the smallest.
enum class Write { replace, add, multiply, max, min };

/// How many places a dimension has, for indices that were checked already.
inline constexpr std::int64_t kChecked = std::numeric_limits<std::int64_t>::max();

/// out[i][j][k] = a[i][index[i][j][k]][k] for dim 1; `index` has out's shape, `a` out's dtype.
/// Returns false where an index lies outside of [0, places); `out` is undefined then.
bool gather_lines(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::int64_t places);

/// Writes src[i][j][k] to out[i][index[i][j][k]][k] for dim 1, along each line in order. `index` is
/// at most as large as `src`, which has out's dtype. Returns as gather_lines. All places are below
/// `reach`.
bool scatter_lines(Write how, const Array& out, std::int64_t dim, const Array& index,
                   const Array& src, std::int64_t places, std::int64_t reach);

}  // namespace tend::kernels
