/// \file
/// A training loop with evaluation, checkpoints and logs.
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

/// The mean loss of a micro-batch, and of how many targets it is the mean.
struct WeightedLoss {
  Tensor loss;
  double weight = 1;
};

/// Trains a model. `loss()` draws the next batch and returns its loss:
///
///     const auto loss = [&] {
///       auto& [x, y] = batches.next();
///       return cross_entropy(model(x), y);
///     };
///     nn::Trainer trainer(model, optimizer, loss, {.steps = 1000, .schedule = &schedule});
///     trainer.state.add("loader", loader);
///     trainer.run();
///
/// Micro-batches (`accumulate`) count alike, as in PyTorch. Where they have different numbers of
/// targets, as with ignored ones or texts of different lengths, return their number, too, and a
/// step is that of all targets together:
///
///     const auto loss = [&]() -> nn::WeightedLoss {
///       auto& [x, y] = batches.next();
///       return {cross_entropy(model(x), y), (y != -100).sum().item()};
///     };
///
/// Each step zeroes, averages and clips the gradients of all of the model's parameters. It also
/// zeroes those of parameters that only the optimizer has. The optimizer may have some of the
/// model's parameters only, if `after_step` steps the others.
///
/// A run that was killed and resumed gives the same bits as one that was not, if `state` has
/// everything that the steps change.
class Trainer {
 public:
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<Tensor()> loss,
          const TrainerOptions& options);
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<WeightedLoss()> loss,
          const TrainerOptions& options);
  /// The same with a function that adds the gradients of the next batch to `.grad` and returns the
  /// loss, such as distributed::DataParallel::backward.
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<double()> gradients,
          TrainerOptions options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Has the model, optimizer, schedules, step and evaluations. Add what else the steps change.
  RunState state;

  /// Trains until `steps` are made, `patience` is used up, or Ctrl-C is pressed. Then it writes the
  /// last checkpoint. If it is called again, it continues from the last step or, with `resume`,
  /// from the last checkpoint. It puts the whole model into training mode. An evaluation restores
  /// the mode. Exceptions of the functions pass through.
  ///
  /// Throws: NotFiniteError  - a loss or gradient is not finite; the step is not made
  ///         Error           - the checkpoint has other settings
  ///         Error           - the folder has checkpoints that this Trainer neither wrote nor
  ///                           resumed, and none of its present step
  void run();

  /// Changes `steps`; after_step may call it. Error for a negative number.
  void set_steps(std::int64_t steps);

  std::int64_t steps_done() const noexcept { return step_; }
  /// Whether the last run() was ended by `patience`.
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
  bool gradients_are_divided_ = false;  // gradients_ divides its gradients and loss by `accumulate`
  double weight_ = 0;                   // of the step's losses, if they have one each
  TrainerOptions options_;
  std::optional<CheckpointFolder> folder_;
  std::vector<Tensor> parameters_;
  std::int64_t step_ = 0, saved_ = -1;
  bool has_run_ = false;
  bool stopped_early_ = false;
  std::int64_t worse_ = 0;  // evaluations since the best one
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t first_step_ = 0;  // of this process
  Clock::time_point start_;
};

}  // namespace tend::nn
