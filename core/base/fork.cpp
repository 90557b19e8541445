#include <tend/core/base/fork.h>
#include <tend/core/base/fork_gate.h>

#include <pthread.h>

namespace tend::detail {

constinit std::array<PaddedMutex, static_cast<std::size_t>(GlobalLock::count)> global_locks;
constinit std::atomic<std::uint32_t> process_number = 1;

void ObjectMutex::wait(std::uint32_t seen, std::uint32_t held) noexcept {
  for (;;) {
    if (seen == 0 || is_left_behind(seen, held)) {
      // Other threads may be asleep, so kAwaited stays set: unlock() then wakes one of them.
      if (state_.compare_exchange_weak(seen, held | kAwaited, std::memory_order_acquire)) return;
      continue;
    }
    if (seen == held && !state_.compare_exchange_weak(seen, held | kAwaited)) continue;
    state_.wait(held | kAwaited, std::memory_order_relaxed);
    seen = state_.load(std::memory_order_relaxed);
  }
}

namespace {

// False for the generator's lock when the forking thread already holds it: locking it again would
// deadlock.
bool is_taken_by_fork(std::size_t lock) noexcept {
  return lock != static_cast<std::size_t>(GlobalLock::generator) || !holds_generator_lock();
}

void before_fork() {
  for (std::size_t i = 0; i < global_locks.size(); ++i) {
    if (is_taken_by_fork(i)) global_locks[i].mutex.lock();
  }
  ForkGate::close();
}

void unlock_all() {
  for (std::size_t i = global_locks.size(); i-- > 0;) {
    if (is_taken_by_fork(i)) global_locks[i].mutex.unlock();
  }
}

void after_fork_in_parent() {
  ForkGate::open();
  unlock_all();
}

void after_fork_in_child() {
  process_number.fetch_add(1, std::memory_order_relaxed);
  ForkGate::reset();
  forget_threads();
  forget_thread_caches();
  unlock_all();
}

// Registered when the library is loaded. Handlers that the program registers later run before these
// ahead of a fork and after these behind it, so they may use tend.
[[maybe_unused]] const int kRegistered =
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);

}  // namespace
}  // namespace tend::detail
