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
  /// then writes the last checkpoint. Puts the whole model into training mode at its beginning; an
  /// evaluation leaves all of it in the mode that the model itself was in. NotFiniteError for a
  /// loss or gradient that is not finite, before the step that it would spoil, and Error for a
  /// checkpoint with other settings; what the functions throw comes through. Called again, it goes
  /// on from the last step or, with `resume`, from the last checkpoint; a step behind which the
  /// schedule or a function threw is then not evaluated any more, and saved only where it is the
  /// last one, but the schedule is stepped. Error for a folder with checkpoints that this Trainer
  /// neither wrote nor resumed, and none of the step that it stands at; IoError for names or
  /// settings that no checkpoint can have, before the first step.
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
  void resume();
  bool goes_on();
  TrainedStep make_step();
  void step_schedule();
  void evaluate_model(TrainedStep& done);
  void compare(const TrainedStep& done);
  void save();
  void save_best();
  double best_in_folder() const;

  ModuleBase& model_;
  optim::Optimizer& optimizer_;
  std::function<double()> gradients_;
  TrainerOptions options_;
  std::optional<CheckpointFolder> folder_;
  std::vector<Tensor> parameters_;
  std::int64_t step_ = 0, saved_ = -1;
  bool owns_folder_ = false;           // no other run's checkpoints are in it
  std::int64_t schedule_due_at_ = -1;  // the step behind which it has to step yet
  bool stopped_early_ = false;
  std::int64_t worse_ = 0;  // evaluations since the best one
  double best_ = std::numeric_limits<double>::infinity();
  double best_saved_ = best_;    // that of best.safetensors
  std::int64_t best_step_ = -1;  // that had the best one
  std::int64_t first_step_ = 0;  // of this process
  Clock::time_point start_;
};

}  // namespace tend::nn
