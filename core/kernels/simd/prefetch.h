// Prefetching memory into the cache some time before it is used.
#pragma once

#include <tend/core/kernels/simd/simd_targets.h>
// simd_targets.h must come before any header of Highway.
#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// In bytes: farther than hardware prefetchers look ahead, and less than the L1 cache holds. The
/// computation on this many bytes takes about as long as the last-level cache needs to answer.
inline constexpr std::size_t kPrefetchAhead = 8192;

/// Whether prefetching pays for a run of this many bytes. Near its end a run prefetches the memory
/// behind it, which belongs to the next run or, after the last one, is not used.
constexpr bool pays_to_prefetch(std::size_t bytes) {
  return bytes >= 8 * kPrefetchAhead;
}

/// Prefetches the cache line kPrefetchAhead bytes after `place`, which may lie beyond the array.
template <class T>
HWY_INLINE void prefetch_ahead(const T* place) {
  // Integer arithmetic, since a pointer must not leave its array.
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(place) + kPrefetchAhead;
  hwy::Prefetch(reinterpret_cast<const T*>(ahead));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace tend::kernels
