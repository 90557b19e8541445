/// \file
/// Logs of training runs, for spreadsheets and scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tend::nn {

/// The numbers of one training step.
struct TrainedStep {
  std::int64_t step = 0;  ///< The number of steps so far, including this one.
  double loss = 0;
  double lr = 0;  ///< The learning rate of the first group in this step.
  /// The norm of all gradients before they were clipped.
  double grad_norm = 0;
  double seconds = 0;            ///< The time since the run began or was resumed.
  double tokens_per_second = 0;  ///< 0 if tokens are not counted.
  std::optional<double> evaluation = {};
  /// Names and numbers that a tool such as lens::Watch recorded at this step. Only log.jsonl has
  /// them.
  std::vector<std::pair<std::string, std::vector<double>>> scores = {};
};

/// A text such as "step 20/100  loss 1.2345  evaluation 1.3  lr 0.001  norm 2.3  5000 tokens/s  12
/// s left".
std::string progress_text(const TrainedStep& step, std::int64_t steps, double seconds_left);

/// Writes the steps of a run as lines of JSON in log.jsonl, and as a table in log.csv. A line
/// is in the files when write() returns.
class RunLog {
 public:
  /// Continues the logs in the folder after step `last`. It removes later lines, which a killed run
  /// may have left, and unfinished lines.
  ///
  /// Throws: IoError - a log cannot be read or written
  RunLog(std::filesystem::path folder, std::int64_t last);

  /// Adds a step to both logs.
  ///
  /// Throws: IoError - a log cannot be written
  void write(const TrainedStep& step) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tend::nn
