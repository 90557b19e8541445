// Checks runs of indices, and wraps indices that count from the end.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// True if all of `count` neighbouring indices are in [0, places).
bool all_inside(const std::int64_t* index, std::int64_t count, std::int64_t places);

/// Writes out[i] = index[i], plus `places` if index[i] is negative. Returns true if all results are
/// in [0, places).
bool wrap_inside(std::int64_t* out, const std::int64_t* index, std::int64_t count,
                 std::int64_t places);

}  // namespace tend::kernels
