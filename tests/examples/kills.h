// Programs that are killed at any moment, and started again until they end.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/examples/process.h"

namespace tend::test {

/// Kills a program again and again.
class Kills {
 public:
  /// `words(out)` are the program's for a run to the folder `out`, in which it goes on where it was
  /// killed. A first run, to "whole", is not killed; it must end with 0.
  Kills(std::string program, std::function<std::vector<std::string>(const std::string& out)> words,
        const TemporaryFolder& folder);

  /// Whether there are still kills to come: ten, or as many as the variable TEND_KILLS says.
  bool goes_on() const;
  /// A run that is killed at random moments until it has ended with 0, with one thread and two in
  /// turn; its folder. Throws for another exit code.
  std::string run();

  int kills() const { return kills_; }
  int runs() const { return runs_; }

 private:
  std::string program_;
  std::function<std::vector<std::string>(const std::string& out)> words_;
  const TemporaryFolder& folder_;
  std::mt19937 random_{11};
  std::uniform_int_distribution<std::int64_t> delay_;  // microseconds
  int kills_ = 0, runs_ = 0;
};

/// How many files lie in a folder.
std::size_t files_in(const std::string& folder);

}  // namespace tend::test
