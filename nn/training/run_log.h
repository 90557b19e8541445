/// \file
/// Logs of training runs, for spreadsheets and scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tend::nn {

/// What is known of a step of a training.
struct TrainedStep {
  std::int64_t step = 0;  ///< Steps made so far, this one included.
  double loss = 0;
  double lr = 0;  ///< Of the first group, in this step.
  /// The norm of all gradients before they were clipped.
  double grad_norm = 0;
  double seconds = 0;            ///< Since the run began or went on.
  double tokens_per_second = 0;  ///< 0 where tokens are not counted.
  std::optional<double> evaluation = {};
};

/// Such as "step 20/100  loss 1.2345  evaluation 1.3  lr 0.001  norm 2.3  5000 tokens/s  12 s
/// left".
std::string progress_text(const TrainedStep& step, std::int64_t steps, double seconds_left);

/// The steps of a run as lines of JSON in log.jsonl, and as a table in log.csv. Each line is
/// written at once.
class RunLog {
 public:
  /// Goes on behind step `last` of the logs in the folder: later lines, which a killed run has left
  /// after its last checkpoint, and the part of a line are taken out. IoError where they cannot be
  /// read or written.
  RunLog(std::filesystem::path folder, std::int64_t last);

  /// IoError where that fails.
  void write(const TrainedStep& step) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tend::nn
