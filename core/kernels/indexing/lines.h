// Moving elements along the lines of arrays in one dimension, to or from the positions that an
// int64 index names. All arrays have the same rank, at least 1, and there is at least one index.
#pragma once

#include <cstdint>
#include <limits>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// How a write changes an element: the new element replaces it, or is combined with it. max and min
/// give NaN if either element is NaN.
enum class Write { replace, add, multiply, max, min };

/// Passed as `size` to the following functions, if all indices were checked before.
inline constexpr std::int64_t kChecked = std::numeric_limits<std::int64_t>::max();

/// out[i][j][k] = a[i][index[i][j][k]][k] for dim 1.
///
/// `index` has out's shape, and `a` has out's dtype. Returns false if an index is not in [0, size).
/// The elements of `out` are then unspecified.
bool gather_lines(const Array& out, const Array& a, std::int64_t dim, const Array& index,
                  std::int64_t size);

/// Writes src[i][j][k] to out[i][index[i][j][k]][k] for dim 1, along each line in order.
///
/// `index` is at most as large as `src`, which has out's dtype. All valid indices are below
/// `reach`. Returns false if an index is not in [0, size). The elements of `out` are then
/// unspecified.
bool scatter_lines(Write how, const Array& out, std::int64_t dim, const Array& index,
                   const Array& src, std::int64_t size, std::int64_t reach);

}  // namespace tend::kernels
