/// \file
/// How far a program is, on stderr.
#pragma once

#include <chrono>
#include <string>

namespace tend::nn {

/// On a terminal one line that is overwritten, and that goes with the object. Where stderr is no
/// terminal, or one that can only append (TERM=dumb, or none), a line after two seconds and then
/// every ten: nothing for a short run, and nothing that fills a log.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Whether the last line was there long enough to be read.
  bool is_due() const { return Clock::now() >= next_; }

  void show(const std::string& line);
  void show_when_due(const std::string& line) {
    if (is_due()) show(line);
  }

  /// Takes an overwritten line away, for what is printed next.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool redraws_;
  bool is_shown_ = false;
  Clock::time_point next_;
};

}  // namespace tend::nn
