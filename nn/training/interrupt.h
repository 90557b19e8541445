/// \file
/// Ctrl-C as a flag that a loop reads.
#pragma once

namespace tend::nn {

/// While it lives, SIGINT (Ctrl-C) and SIGTERM are noted instead of ending the process; a second
/// one ends it. Guards may nest on one thread. They share one note, which the outermost guard
/// clears when it begins.
class InterruptGuard {
 public:
  [[nodiscard]] InterruptGuard() noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that came while a guard lived, or that was noted; 0 if there was none.
  static int signal() noexcept;
  /// Notes a signal that came to another process of the same run. The first signal to this process
  /// is still only noted, since both may come from the same Ctrl-C.
  static void note(int signal) noexcept;
};

}  // namespace tend::nn
