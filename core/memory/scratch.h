// Temporary memory of kernels.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

namespace tend {

/// A vector of temporary elements whose memory comes from the pool.
template <class T>
using Scratch = std::vector<T, PoolAllocator<T>>;

/// A Scratch of `count` elements of value T().
///
/// Throws: OutOfMemoryError - there is not enough memory
template <class T>
Scratch<T> scratch(std::string_view operation, std::int64_t count) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  if (count > std::numeric_limits<std::int64_t>::max() / kBytes)
    fail<OutOfMemoryError>(operation, "no room for ", count, " elements of ", kBytes, " bytes");
  return Scratch<T>(static_cast<std::size_t>(count));
}

}  // namespace tend
