// Thread-local settings that parallel_for copies from the calling thread to its workers.
#pragma once

#include <cstdint>

namespace tend::detail {

struct Inherited {
  /// The MatmulPath that a MatmulPathGuard has set, plus 1; 0 if there is no guard.
  std::uint8_t matmul_path = 0;
};

inline constinit thread_local Inherited inherited;

}  // namespace tend::detail
