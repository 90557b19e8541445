// The gate at which a fork() waits, for code that takes foreign locks.
#pragma once

#include <atomic>
#include <cstdint>

#pragma GCC visibility push(default)

namespace tend::detail {

/// While it exists, the thread runs foreign code whose own locks the child of a fork() could find
/// locked for good: OpenBLAS, or the lock of the global std::locale. A fork() waits until it is
/// destroyed, so no GlobalLock may be taken meanwhile.
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

  /// Before a fork(): lets no thread in, and waits until none is inside.
  static void close() noexcept;
  /// After it, in the parent: lets threads in again.
  static void open() noexcept;
  /// After it, in the child: opens the gate. No other thread exists that could be inside.
  static void reset() noexcept;

 private:
  static constexpr std::uint32_t kClosed = 1, kOne = 2;
  static void wait_outside() noexcept;

  static constinit std::atomic<std::uint32_t> state_;  // kOne for each thread inside, and kClosed
};

}  // namespace tend::detail

#pragma GCC visibility pop
