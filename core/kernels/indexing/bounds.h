// Checks runs of indices, and wraps indices that count from the end.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// True if all of `count` neighbouring indices are in [0, size).
bool all_inside(const std::int64_t* index, std::int64_t count, std::int64_t size);

/// Writes out[i] = index[i], plus `size` if index[i] is negative. Returns true if all results are
/// in [0, size).
bool wrap_inside(std::int64_t* out, const std::int64_t* index, std::int64_t count,
                 std::int64_t size);

}  // namespace tend::kernels
