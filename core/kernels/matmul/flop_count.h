// Floating-point operations of products, for the profiler.
#pragma once

#include <cstdint>

namespace tend::kernels {

/// How many multiplications and additions the matrix products and attentions that this thread
/// called have made; it wraps around.
inline constinit thread_local std::uint64_t flop_count = 0;

/// Counts sums of `depth` products.
inline void count_products(std::int64_t sums, std::int64_t depth) noexcept {
  flop_count += 2 * static_cast<std::uint64_t>(sums) * static_cast<std::uint64_t>(depth);
}

}  // namespace tend::kernels
