#include <tend/core/base/thread_number.h>

#include <atomic>

namespace tend {

std::uint64_t thread_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  constinit thread_local static std::uint64_t number = 0;
  if (number == 0) number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace tend
