// The system calls of the test program on files: every one passes here, and can be disturbed.
#pragma once

#include <cstdint>

namespace tend::test {

enum class Fault {
  interrupted,  // EINTR, from calls that wait
  cut_short,    // one byte is read or written instead of all
  disk_full,    // ENOSPC, from calls that write
  broken,       // EIO, from every call
  gone,         // ENOENT, from calls that take a name
};

/// While it lives, the n-th system call (1 is the next) of this thread that can have the fault has
/// it; unless `once` all that follow have it, too.
class FaultyCall {
 public:
  FaultyCall(Fault fault, std::int64_t n, bool once) noexcept;
  ~FaultyCall();
  FaultyCall(const FaultyCall&) = delete;
  FaultyCall& operator=(const FaultyCall&) = delete;

  /// Ends the disturbance.
  void stop() noexcept;
  /// How many calls came that can have the fault.
  std::int64_t calls() const noexcept { return calls_; }
  /// The name of the call that was the n-th.
  const char* name() const noexcept { return name_; }

  /// Whether the call that is about to be made shall have the fault.
  bool meets(Fault fault, const char* name) noexcept;

 private:
  Fault fault_;
  std::int64_t n_;
  bool once_;
  std::int64_t calls_ = 0;
  const char* name_ = "";
};

}  // namespace tend::test
