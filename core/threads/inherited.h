// Thread-local settings that parallel_for copies from the calling thread to its workers.
#pragma once

#include <cstdint>

namespace tend::detail {

struct Inherited {
  /// The path of a MatmulPathGuard, plus 1; 0 when there is none.
  std::uint8_t matmul_path = 0;
};

inline constinit thread_local Inherited inherited;

}  // namespace tend::detail
