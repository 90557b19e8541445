/// \file
/// Shows the progress of a program on stderr.
#pragma once

#include <chrono>
#include <string>

namespace tend::nn {

/// A line on stderr that shows progress.
///
/// On a terminal, each line overwrites the last one, and the destructor removes it. If stderr is
/// not a terminal, or the terminal can only append (TERM is dumb or unset), a line is printed after
/// two seconds and then every ten seconds.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// True if enough time has passed since the last line.
  bool is_due() const { return Clock::now() >= next_; }

  void show(const std::string& line);
  void show_when_due(const std::string& line) {
    if (is_due()) show(line);
  }

  /// Removes the line, so that something else can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool redraws_;
  bool is_shown_ = false;
  Clock::time_point next_;
};

}  // namespace tend::nn
