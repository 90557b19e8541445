/// \file
/// Ctrl-C as a question that a loop asks.
#pragma once

namespace tend::nn {

/// While it lives, SIGINT (Ctrl-C) and SIGTERM are noted instead of ending the process; a second
/// one ends it. Guards may nest on one thread; the process has one note for all of them, which the
/// outermost guard empties when it begins.
class InterruptGuard {
 public:
  [[nodiscard]] InterruptGuard() noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that came while a guard lived, or that was noted; 0 where none did.
  static int signal() noexcept;
  /// Notes a signal that came to another process which works with this one. The first that comes
  /// to this process is still only noted, as both may be of the same Ctrl-C.
  static void note(int signal) noexcept;
};

}  // namespace tend::nn
