// A number that identifies a thread.
#pragma once

#include <cstdint>

namespace tend {

/// The number of the calling thread, different for every thread of the process.
///
/// Unlike a std::thread::id it is not used again for a later thread.
std::uint64_t thread_number() noexcept;

}  // namespace tend
