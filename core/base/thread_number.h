// Telling threads apart.
#pragma once

#include <cstdint>

namespace tend {

/// A number that no other thread of the process has or will have. Unlike std::thread::id it is not
/// given to a later thread.
std::uint64_t thread_number() noexcept;

}  // namespace tend
