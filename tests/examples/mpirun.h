// Programs on several processes, as mpirun starts them.
#pragma once

#include <string>
#include <vector>

#include "tests/examples/process.h"

namespace tend::test {

/// A second instead of five for each question to a network that does not answer: MPI asks for the
/// host's name several times, which not every machine knows.
inline constexpr const char* kShortWait = "RES_OPTIONS=timeout:1 attempts:1";

/// Open MPI's plugins leave memory behind that they have unloaded.
inline constexpr const char* kNoLeakCheck = "ASAN_OPTIONS=detect_leaks=0";

/// The arguments for /usr/bin/env to run a program on so many processes, whatever the machine has,
/// also as root.
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

/// The same without what is printed on stderr, where MPI complains about machines without network.
inline Ended mpirun_stdout(int count, const std::string& program,
                           const std::vector<std::string>& words, const TemporaryFolder& folder) {
  std::vector<std::string> all{"-c", "exec /usr/bin/env \"$@\" 2>/dev/null", "sh"};
  const std::vector<std::string> started = mpirun_words(count, program, words);
  all.insert(all.end(), started.begin(), started.end());
  return run_program("/bin/sh", all, folder);
}

inline Ended mpirun(int count, const std::string& program, const std::vector<std::string>& words,
                    const TemporaryFolder& folder) {
  return run_program("/usr/bin/env", mpirun_words(count, program, words), folder);
}

}  // namespace tend::test
