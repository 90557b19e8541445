#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace train {

/// Where a training stands.
struct Standing {
  std::uint64_t step;
  std::uint64_t steps;
  double loss;
  double held_out_loss;
  double exact_match;
  double tokens_per_second;
  double seconds_left;
};

/// What matters most comes first, for a narrow terminal shows no more.
std::string progress_line(const Standing& standing);

/// One line on a terminal's stderr that is overwritten; where stderr is no terminal, nothing.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the line, unless the last one is too fresh to have been read.
  void show(const Standing& standing);

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace train
