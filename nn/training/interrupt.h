/// \file
/// Ctrl-C as a flag that a loop can read.
#pragma once

namespace tend::nn {

/// While a guard lives, the first SIGINT (Ctrl-C) or SIGTERM is recorded and does not end the
/// process. A second signal ends the process.
///
/// Guards may nest on one thread. They share one record, which the outermost guard clears when it
/// begins.
class InterruptGuard {
 public:
  [[nodiscard]] InterruptGuard() noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The recorded signal; 0 if there is none.
  static int signal() noexcept;
  /// Records a signal that another process of the same run received. The first signal to this
  /// process is still only recorded, since both may come from the same Ctrl-C.
  static void note(int signal) noexcept;
};

}  // namespace tend::nn
