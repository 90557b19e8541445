// Runs of indices that are checked, and counted from the end.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// Whether all of `count` neighbouring indices lie in [0, places).
bool all_inside(const std::int64_t* index, std::int64_t count, std::int64_t places);

/// out[i] = index[i], or index[i] + places where that is negative. Whether all results lie in
/// [0, places).
bool wrap_inside(std::int64_t* out, const std::int64_t* index, std::int64_t count,
                 std::int64_t places);

}  // namespace tend::kernels
