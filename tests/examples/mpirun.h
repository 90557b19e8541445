// Runs programs on several processes with mpirun.
#pragma once

#include <string>
#include <vector>

#include "tests/examples/process.h"

namespace tend::test {

/// Shortens the timeout of each DNS query from five seconds to one. MPI looks up the host's name
/// several times, and some machines cannot resolve it.
inline constexpr const char* kShortWait = "RES_OPTIONS=timeout:1 attempts:1";

/// Turns off the leak check, because Open MPI's plugins leak memory.
inline constexpr const char* kNoLeakCheck = "ASAN_OPTIONS=detect_leaks=0";

/// The arguments for /usr/bin/env that run a program on `count` processes. This works on any number
/// of cores and also as root.
inline std::vector<std::string> mpirun_words(int count, const std::string& program,
                                             const std::vector<std::string>& words) {
  std::vector<std::string> all{"OMPI_ALLOW_RUN_AS_ROOT=1",
                               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                               kShortWait,
                               kNoLeakCheck,
                               TEND_MPIRUN,
                               "--oversubscribe",
                               "-n",
                               std::to_string(count),
                               program};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// Runs a program on `count` processes. The output does not include stderr, where MPI complains on
/// machines without a network.
inline Ended mpirun_stdout(int count, const std::string& program,
                           const std::vector<std::string>& words, const TemporaryFolder& folder) {
  std::vector<std::string> all{"-c", "exec /usr/bin/env \"$@\" 2>/dev/null", "sh"};
  const std::vector<std::string> started = mpirun_words(count, program, words);
  all.insert(all.end(), started.begin(), started.end());
  return run_program("/bin/sh", all, folder);
}

/// Runs a program on `count` processes. The output includes stderr.
inline Ended mpirun(int count, const std::string& program, const std::vector<std::string>& words,
                    const TemporaryFolder& folder) {
  return run_program("/usr/bin/env", mpirun_words(count, program, words), folder);
}

}  // namespace tend::test
