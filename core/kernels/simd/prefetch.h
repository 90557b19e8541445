// Prefetching memory some time before it is used.
#pragma once

#include <tend/core/kernels/simd/simd_targets.h>
// Before anything of Highway.
#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// In bytes: farther than processors look by themselves, and less than the first cache holds. What
/// is computed on the way takes about as long as the last cache takes to answer.
inline constexpr std::size_t kPrefetchAhead = 8192;

/// Whether prefetching pays for a run of so many bytes. At its end it prefetches what comes after
/// it, which is the next run's or, at the end of all, nobody's.
constexpr bool pays_to_prefetch(std::size_t bytes) {
  return bytes >= 8 * kPrefetchAhead;
}

/// Prefetches what lies kPrefetchAhead behind `place`, if there is anything.
template <class T>
HWY_INLINE void prefetch_ahead(const T* place) {
  // As a number: it may lie behind the array.
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(place) + kPrefetchAhead;
  hwy::Prefetch(reinterpret_cast<const T*>(ahead));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace tend::kernels
