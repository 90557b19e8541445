// Fetching memory some time before it is used.
#pragma once

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>

namespace tend::kernels {

/// In bytes: farther than processors look by themselves, and less than the first cache holds. What
/// is computed on the way takes about as long as the last cache takes to answer.
inline constexpr std::size_t kFetchAhead = 8192;

/// Whether fetching pays for a run of so many bytes. Its last kFetchAhead fetch what comes after
/// it, which is the next run's or, at the end of all, nobody's.
constexpr bool pays_to_fetch(std::size_t bytes) {
  return bytes >= 8 * kFetchAhead;
}

/// Fetches what lies kFetchAhead behind `place`, if there is anything.
template <class T>
HWY_INLINE void fetch_ahead(const T* place) {
  // As a number: it may lie behind the array.
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(place) + kFetchAhead;
  hwy::Prefetch(reinterpret_cast<const T*>(ahead));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace tend::kernels
