/// \file
/// The options of a Trainer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <tend/nn/optim/plateau.h>
#include <tend/nn/optim/schedule.h>
#include <tend/nn/training/run_log.h>

namespace tend::nn {

/// The options of a Trainer. Designated initializers must have this order.
struct TrainerOptions {
  std::int64_t steps = 0;       ///< The number of steps of the whole run.
  std::int64_t accumulate = 1;  ///< The number of micro-batches whose losses one step averages.
  double clip_norm = std::numeric_limits<double>::infinity();
  std::int64_t tokens_per_step = 0;  ///< For tokens per second in the progress line and the logs.
  std::int64_t evaluate_every = 0;   ///< Steps between evaluations; 0: never. Needs `evaluate`.
  /// The run ends after this number of evaluations in a row without a new best one. 0: it does not
  /// end early. NaN is not better than anything.
  std::int64_t patience = 0;
  /// The folder of checkpoints and logs. If it is empty, the run writes none. Without `resume`,
  /// run() throws an Error if the folder has checkpoints of another run.
  std::filesystem::path out = {};
  std::int64_t save_every = 0;  ///< Steps between checkpoints; 0: only one at the end.
  std::int64_t keep = 3;        ///< The number of checkpoints that stay.
  /// After each evaluation that is better than all before it, best.safetensors is written in `out`.
  /// `resume` continues from this file if there is no checkpoint of a step.
  Flag keep_best = false;
  /// True writes checkpoints and logs. If there are several processes, only one of them may write.
  Flag writes = true;
  Flag resume = false;         ///< Continues from the last checkpoint in `out`, if there is one.
  Flag shows_progress = true;  ///< A line on stderr (ProgressLine).
  /// The program's settings, which are saved in checkpoints.
  std::map<std::string, std::string> settings = {};

  optim::LRScheduler* schedule = nullptr;       ///< Stepped after the optimizer.
  optim::ReduceLROnPlateau* plateau = nullptr;  ///< Stepped with each evaluation.
  /// Returns a number that training should make small, such as the loss on other data. It is called
  /// in evaluation mode and without grad.
  std::function<double()> evaluate = {};
  /// Called after each step, before a checkpoint and the logs are written. It may set or change the
  /// step's `evaluation`, which is compared with the best one afterwards.
  std::function<void(TrainedStep&)> after_step = {};
  /// Chooses the step of the checkpoint from which `resume` continues; by default the last one. Its
  /// argument is the step of the last checkpoint in `out`, or -1 if there is none.
  ///
  /// If it returns -1, there are three cases:
  /// - If the argument was -1 and there is a best.safetensors, the run continues from that file.
  /// - Otherwise a Trainer that has already run continues from its last step.
  /// - Otherwise the run starts at step 0, which is an Error in a folder with checkpoints.
  std::function<std::int64_t(std::int64_t)> choose_checkpoint = {};
  /// Called before each step; the run ends if it returns true. By default Ctrl-C ends the run. Your
  /// own function must ask InterruptGuard::signal() itself.
  std::function<bool()> ends = {};
};

namespace detail {
inline constexpr const char* kTrainer = "Trainer";  // the operation's name in error messages
/// Throws an Error if options contradict each other.
void check_options(const TrainerOptions& options);
}  // namespace detail

}  // namespace tend::nn
