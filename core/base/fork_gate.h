// What a fork() waits for. Apart from core/base/fork.h so that core/base/error.h needs nothing
// else.
#pragma once

#include <atomic>
#include <cstdint>

namespace tend::detail {

/// While it lives, the thread is in code of others with locks of its own that the child of a fork()
/// would find locked: OpenBLAS, or the lock of the global std::locale. A fork() waits for its end,
/// so no GlobalLock may be taken meanwhile.
class ForkGate {
 public:
  ForkGate() noexcept { enter(); }
  ~ForkGate() { leave(); }
  ForkGate(const ForkGate&) = delete;
  ForkGate& operator=(const ForkGate&) = delete;

  static void enter() noexcept {
    if ((state_.fetch_add(kOne, std::memory_order_acquire) & kClosed) != 0) wait_outside();
  }
  static void leave() noexcept {
    if ((state_.fetch_sub(kOne, std::memory_order_release) & kClosed) != 0) state_.notify_all();
  }

  /// Around a fork(): lets nobody in and waits until nobody is inside; then lets them in again.
  static void close() noexcept;
  static void open() noexcept;
  /// In the child, which has no other threads that could be inside or on their way.
  static void reset() noexcept;

 private:
  static constexpr std::uint32_t kClosed = 1, kOne = 2;
  static void wait_outside() noexcept;

  static constinit std::atomic<std::uint32_t> state_;  // kOne for each thread inside, and kClosed
};

}  // namespace tend::detail
