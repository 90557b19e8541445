// Prefetches memory into the cache some time before it is used.
#pragma once

#include <tend/core/kernels/simd/simd_targets.h>
// simd_targets.h must come before any header of Highway.
#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// The distance in bytes between the memory that is used and the memory that is prefetched.
///
/// It is longer than the distance of hardware prefetchers, and shorter than the L1 cache. Computing
/// on this many bytes takes about as long as an access to the last-level cache.
inline constexpr std::size_t kPrefetchAhead = 8192;

/// True if prefetching pays for a run of this many bytes.
///
/// Near its end, a run prefetches the memory after the run. This memory belongs to the next run.
/// After the last run, it is not used.
constexpr bool pays_to_prefetch(std::size_t bytes) {
  return bytes >= 8 * kPrefetchAhead;
}

/// Prefetches the cache line kPrefetchAhead bytes after `address`. The line may be outside of the
/// array.
template <class T>
HWY_INLINE void prefetch_ahead(const T* address) {
  // Integer arithmetic, since pointer arithmetic must not leave the array.
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(address) + kPrefetchAhead;
  hwy::Prefetch(reinterpret_cast<const T*>(ahead));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace tend::kernels
