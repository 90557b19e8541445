// How a test ends a child process of fork().
#pragma once

#include <unistd.h>

// Clang defines this function in programs that are built to measure coverage. In other programs its
// address is nullptr.
extern "C" int __llvm_profile_write_file() __attribute__((weak));  // NOLINT: its name

namespace tend::test {

/// Ends the process like _exit(), without running destructors, but saves the coverage data first.
[[noreturn]] inline void end_child(int status) {
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
  _exit(status);
}

}  // namespace tend::test
