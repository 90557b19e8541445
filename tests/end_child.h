// The end of a child of fork() in a test.
#pragma once

#include <unistd.h>

// Clang's, in programs that count branches (the preset coverage); nullptr elsewhere.
extern "C" int __llvm_profile_write_file() __attribute__((weak));  // NOLINT: its name

namespace tend::test {

/// Ends the process as _exit() does, without destructors, but keeps what it counted.
[[noreturn]] inline void end_child(int status) {
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();
  _exit(status);
}

}  // namespace tend::test
