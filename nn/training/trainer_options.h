/// \file
/// What a Trainer is told.
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

/// What a Trainer is told: steps, evaluations, checkpoints and functions of yours. In a designated
/// initializer they stand in this order.
struct TrainerOptions {
  std::int64_t steps = 0;       ///< Of the whole run.
  std::int64_t accumulate = 1;  ///< Losses that one step averages: micro-batches.
  double clip_norm = std::numeric_limits<double>::infinity();
  std::int64_t tokens_per_step = 0;  ///< For the rate in the progress line and the logs.
  std::int64_t evaluate_every = 0;   ///< Steps; 0: never. It and `evaluate` go together.
  /// Evaluations, of `evaluate` or filled in by `after_step`, without a better one that end the
  /// run; 0: none do. NaN is never better.
  std::int64_t patience = 0;
  /// Folder of checkpoints and logs; empty: there are none. Without `resume`, run() is an Error for
  /// one with checkpoints of another run.
  std::filesystem::path out = {};
  std::int64_t save_every = 0;  ///< Steps; 0: only at the end.
  std::int64_t keep = 3;        ///< How many checkpoints stay.
  /// An evaluation that is better than all before writes a checkpoint, best.safetensors in `out`.
  /// Without checkpoints of steps, `resume` goes on from it.
  Flag keep_best = false;
  Flag writes = true;          ///< Checkpoints and logs; false on all but one of several processes.
  Flag resume = false;         ///< Goes on from the last checkpoint in `out`, if there is one.
  Flag shows_progress = true;  ///< A line on stderr (ProgressLine).
  std::map<std::string, std::string> settings = {};  ///< Of the program, for the checkpoints.

  optim::LRScheduler* schedule = nullptr;       ///< Stepped after the optimizer.
  optim::ReduceLROnPlateau* plateau = nullptr;  ///< Stepped with each evaluation.
  /// Gives what is to become small, the loss on other data; called in evaluation mode without grad.
  std::function<double()> evaluate = {};
  /// Called after each step, before a checkpoint and the logs are written; it may fill in an
  /// `evaluation` of its own, or change that of `evaluate`. Only then is it compared with the best
  /// one, and the plateau stepped.
  std::function<void(TrainedStep&)> after_step = {};
  /// With `resume`, given the step of the last checkpoint in `out`, -1 where there is none of a
  /// step: the step of the one to go on from. By default it is the last one. -1 is a new run, an
  /// Error in a folder with another run's checkpoints (of a Trainer that was run before, its next
  /// step); where there was none of a step, it is the best one.
  std::function<std::int64_t(std::int64_t)> choose_checkpoint = {};
  /// Asked before each step whether the run ends here; by default it ends after Ctrl-C, for which
  /// another function must ask itself (InterruptGuard::signal).
  std::function<bool()> ends = {};
};

namespace detail {
inline constexpr const char* kTrainer = "Trainer";  // the operation that errors name
/// Error for options that contradict each other.
void check_options(const TrainerOptions& options);
}  // namespace detail

}  // namespace tend::nn
