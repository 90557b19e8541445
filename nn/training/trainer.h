/// \file
/// Trainer: a training loop with evaluation, checkpoints and logs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <tend/nn/optim/optimizer.h>
#include <tend/nn/training/checkpoint_folder.h>
#include <tend/nn/training/run_log.h>
#include <tend/nn/training/run_state.h>
#include <tend/nn/training/trainer_options.h>

namespace tend::nn {

/// A loss or a gradient is infinite or NaN.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

/// The mean loss of a micro-batch, and the number of its targets.
struct WeightedLoss {
  Tensor loss;
  double weight = 1;
};

/// Trains a model. `loss()` reads the next batch and returns its loss:
///
///     const auto loss = [&] {
///       auto& [x, y] = batches.next();
///       return cross_entropy(model(x), y);
///     };
///     nn::Trainer trainer(model, optimizer, loss, {.steps = 1000, .schedule = &schedule});
///     trainer.state.add("loader", loader);
///     trainer.run();
///
/// With `accumulate`, all micro-batches of a step have the same weight, as in PyTorch. If their
/// numbers of targets differ, for example because some are ignored, return this number, too. Then a
/// step uses the mean over all targets:
///
///     const auto loss = [&]() -> nn::WeightedLoss {
///       auto& [x, y] = batches.next();
///       return {cross_entropy(model(x), y), (y != -100).sum().item()};
///     };
///
/// Each step clears, averages and clips the gradients of all parameters of the model. It also
/// clears the gradients of parameters that only the optimizer has. The optimizer may have only some
/// of the model's parameters, if `after_step` steps the others.
///
/// If `state` has everything that the steps change, a run that was killed and resumed gives the
/// same bits as a run that was not killed.
class Trainer {
 public:
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<Tensor()> loss,
          const TrainerOptions& options);
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<WeightedLoss()> loss,
          const TrainerOptions& options);
  /// `gradients` adds the gradients of the next batch to `.grad` and returns the loss, as
  /// distributed::DataParallel::backward does.
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<double()> gradients,
          TrainerOptions options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// The state of the run: the model, optimizer, schedules, step and evaluations. Add everything
  /// else that the steps change.
  RunState state;

  /// Trains until `steps` steps are made, `patience` is used up, or Ctrl-C is pressed. Then it
  /// writes the last checkpoint.
  ///
  /// A later call continues from the last step or, with `resume`, from the last checkpoint.
  /// run() puts the whole model into training mode. After an evaluation, the model returns to this
  /// mode. Exceptions of the functions pass through.
  ///
  /// Throws:
  ///   NotFiniteError - a loss or gradient is not finite; the step is not made
  ///   Error          - the checkpoint has other settings
  ///   Error          - the folder has checkpoints that this Trainer neither wrote nor resumed, but
  ///                    no checkpoint of its present step
  void run();

  /// Changes the option `steps`. after_step may call it.
  ///
  /// Throws: Error - the number is negative
  void set_steps(std::int64_t steps);

  std::int64_t steps_done() const noexcept { return step_; }
  /// True if the last run() ended because of `patience`.
  bool stopped_early() const noexcept { return stopped_early_; }
  double best_evaluation() const noexcept { return best_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path find_checkpoint() const;
  void check_folder() const;
  void find_start();
  bool should_continue();
  TrainedStep make_step();
  void finish_step(TrainedStep& done);
  void save();
  void save_best() const;

  ModuleBase& model_;
  optim::Optimizer& optimizer_;
  std::function<double()> gradients_;
  bool gradients_are_divided_ = false;  // true: gradients_() divides by `accumulate` itself
  double weight_ = 0;                   // the sum of the step's weights; 0 without WeightedLoss
  TrainerOptions options_;
  std::optional<CheckpointFolder> folder_;
  std::vector<Tensor> parameters_;
  std::int64_t step_ = 0, saved_ = -1;
  bool has_run_ = false;
  bool stopped_early_ = false;
  std::int64_t worse_ = 0;  // evaluations since the best one
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t first_step_ = 0;  // the step from which this run() started
  Clock::time_point start_;
};

}  // namespace tend::nn
