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

/// A loss or a gradient that is infinite or no number.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

/// Steps a model along the gradients of a loss, `loss()`, which draws the next batch:
///
///     const auto loss = [&] {
///       auto& [x, y] = batches.next();
///       return cross_entropy(model(x), y);
///     };
///     nn::Trainer trainer(model, optimizer, loss, {.steps = 1000, .schedule = &schedule});
///     trainer.state.add("loader", loader);
///     trainer.run();
///
/// Gradients of all of the model's parameters are zeroed, clipped and averaged, and those that only
/// the optimizer has are zeroed; the optimizer has all of the model's, or some, where `after_step`
/// steps the others.
///
/// A run that is killed and resumed has the bits of one that was not, as long as `state` has all
/// that its steps change.
class Trainer {
 public:
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<Tensor()> loss,
          const TrainerOptions& options);
  /// The same with a function that adds the gradients of the next batch to `.grad` itself, and
  /// returns its loss, such as distributed::DataParallel::backward.
  Trainer(ModuleBase& model, optim::Optimizer& optimizer, std::function<double()> gradients,
          TrainerOptions options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Model, optimizer, schedules, step and evaluations; add what else the steps change.
  RunState state;

  /// Trains until `steps` are made, an evaluation has not been better for too long, or Ctrl-C;
  /// then writes the last checkpoint. Called again, it goes on from the last step or, with
  /// `resume`, from the last checkpoint. Puts the whole model into training mode; an evaluation
  /// leaves it in the mode that it was in. What the functions throw comes through.
  ///
  /// Throws: NotFiniteError  - a loss or gradient is not finite; before the step it would spoil
  ///         Error           - the checkpoint has other settings
  ///         Error           - the folder has checkpoints that this Trainer neither wrote nor
  ///                           resumed, and none of the step that it is at
  void run();

  /// Another number for `steps`, also from after_step. Error for a negative one.
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
  bool gradients_are_divided_ = false;  // by `accumulate`, and the losses, too
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
