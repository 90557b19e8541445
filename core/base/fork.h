// The locks of the library, made so that the child of a fork() can go on, whatever other threads of
// the parent were doing. The child has one thread; a lock that another thread held at that moment
// would stay locked for good.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#pragma GCC visibility push(default)

namespace tend::detail {

/// The locks that the whole library shares, outermost first: a thread that holds one may take only
/// later ones. A fork() takes all of them, so in the child they are free and what they guard is
/// whole. Other locks with static storage, std::call_once, and local static variables that need
/// code to be initialised must not be used in the library: a fork() does not know of them.
enum class GlobalLock : std::uint8_t {
  generator,       // the default generator; the only one under which code of the user may run
  nodes,           // which backwards use the saved tensors of a node
  views,           // the history of a view
  function_names,  // of autograd::Function
  print_options,
  modules,  // where modules and parameters live
  blas,     // the preparation of OpenBLAS
  threads,  // starting the thread team of parallel_for
  blocks,   // the blocks of the pool that all threads share
  live,     // the count of memory in use
  count,
};

struct alignas(64) PaddedMutex {
  std::mutex mutex;
};
extern constinit std::array<PaddedMutex, static_cast<std::size_t>(GlobalLock::count)> global_locks;

inline std::mutex& global_mutex(GlobalLock which) noexcept {
  return global_locks[static_cast<std::size_t>(which)].mutex;
}

/// The number of this process: one more than its parent's in the child of a fork().
extern constinit std::atomic<std::uint32_t> process_number;

/// A mutex inside an object; there are too many of these for a fork() to take them all. In the
/// child it counts as free, even if the forking thread itself held it. An object that another
/// thread was changing at that moment stays half-changed in the child.
class ObjectMutex {
 public:
  void lock() noexcept {
    std::uint32_t seen = 0;
    const std::uint32_t held = 2 * process_number.load(std::memory_order_relaxed);
    if (!state_.compare_exchange_strong(seen, held, std::memory_order_acquire)) wait(seen, held);
  }
  bool try_lock() noexcept {
    std::uint32_t seen = 0;
    const std::uint32_t held = 2 * process_number.load(std::memory_order_relaxed);
    return state_.compare_exchange_strong(seen, held, std::memory_order_acquire) ||
           (is_left_behind(seen, held) &&
            state_.compare_exchange_strong(seen, held, std::memory_order_acquire));
  }
  void unlock() noexcept {
    if ((state_.exchange(0, std::memory_order_release) & kAwaited) != 0) state_.notify_one();
  }

 private:
  static constexpr std::uint32_t kAwaited = 1;  // a thread may be asleep until it is free

  // Whether its holder is a thread of a parent process, which this process does not have.
  static bool is_left_behind(std::uint32_t seen, std::uint32_t held) noexcept {
    return (seen | kAwaited) != (held | kAwaited);
  }
  void wait(std::uint32_t seen, std::uint32_t held) noexcept;

  std::atomic<std::uint32_t> state_{0};  // 0: free; else twice the holder's process, and kAwaited
};

/// Whether this thread holds GlobalLock::generator. In core/random/random.cpp.
bool holds_generator_lock() noexcept;
/// In the child of a fork(): forgets the threads of parallel_for. In core/threads/parallel.cpp.
void forget_threads() noexcept;
/// In the child of a fork(), with GlobalLock::live held: adds the live bytes that the parent's
/// threads counted to the total, and forgets all threads but this one. In core/memory/pool.cpp.
void forget_thread_caches() noexcept;

}  // namespace tend::detail

#pragma GCC visibility pop
