/// \file
/// Progress of a program on stderr.
#pragma once

#include <chrono>
#include <string>

namespace tend::nn {

/// On a terminal it is one line that is overwritten, and that disappears with the object.
/// Otherwise, and on a terminal that can only append (TERM is dumb or unset), a line is printed
/// after two seconds and then every ten.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether the next line may be shown.
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
