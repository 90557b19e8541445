// Kills programs at random moments, and starts them again until they finish.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/examples/process.h"

namespace tend::test {

/// Kills a program again and again, and resumes it.
class Kills {
 public:
  /// `words(out)` are the arguments for a run in the folder `out`. With them, a program that was
  /// killed must resume. The constructor runs the program once, in the folder "whole", without
  /// killing it.
  ///
  /// Throws: std::runtime_error - the first run exits with another code than 0
  Kills(std::string program, std::function<std::vector<std::string>(const std::string& out)> words,
        const TemporaryFolder& folder);

  /// True until the program was killed ten times, or TEND_KILLS (an environment variable) times.
  bool has_more() const;
  /// Runs the program, and kills it at random moments, until it exits with 0. Alternates between
  /// one and two threads. Returns the folder of the run.
  ///
  /// Throws: std::runtime_error - the program exits with another code
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

/// The number of files in a folder.
std::size_t files_in(const std::string& folder);

}  // namespace tend::test
