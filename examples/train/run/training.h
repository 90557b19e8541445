#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tend/nn/training/trainer.h>

#include "examples/train/run/history.h"
#include "examples/train/run/model.h"
#include "examples/train/run/options.h"
#include "examples/train/run/processes.h"
#include "examples/train/task/tasks.h"

namespace train {

/// Where and how often a training writes checkpoints and logs.
struct Saving {
  std::filesystem::path folder;
  std::uint64_t every = 0;  ///< Steps between checkpoints; 0: no checkpoints.
  std::uint64_t keep = 3;   ///< The number of checkpoints to keep.
};

/// A training. It uses the default generator for initial weights and dropout.
class Training {
 public:
  /// `processes` must live longer than the training. Only the first process saves and shows
  /// progress.
  Training(const Options& options, Task task, Processes& processes, const Saving& saving = {});
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  std::uint64_t steps_done() const { return history.losses.size(); }
  /// The steps of the options, doubled by each failed check, up to max_steps.
  std::uint64_t steps_planned() const;
  bool is_complete() const { return steps_done() >= steps_planned(); }
  /// The learning rate of the next step. The cosine ends with the planned steps.
  double next_rate() const;
  double tokens_per_second() const;
  /// Plans no more steps.
  void end_here();
  /// Copies the state for put_back(). Each validation does this, too.
  void remember();
  /// Restores the copied state.
  void put_back() { trainer.state.load_state_dict(sound_); }

  Options options;
  Task task;
  Model model;
  tend::optim::AdamW optimizer;
  History history;
  /// The training loop. Its steps also validate from time to time, and check answers when the
  /// planned steps end before max_steps.
  ///
  /// It throws tend::nn::NotFiniteError if a loss is not finite, before the weights change. It also
  /// throws this error if the loss of a validation is not finite.
  tend::nn::Trainer trainer;

 private:
  tend::nn::TrainerOptions trainer_options(const Processes& processes, const Saving& saving);
  double next_gradients();
  void record_step(tend::nn::TrainedStep& done);
  void validate();
  void check();

  std::vector<Tokens> watched_;
  tend::nn::StateDict sound_;  // the copy of remember()
  std::uint64_t saved_every_;
  Processes& processes_;
  std::chrono::steady_clock::time_point start_;  // when the present step began
};

/// The course of a training.
struct Course {
  History history;      ///< The history of all steps, including steps that put_back() undid.
  std::string failure;  ///< Why the training could not continue, or empty.
};

/// Trains until the last step or an interruption.
///
/// A loss that is not finite ends the training, too. The weights were then ruined some steps
/// before, so the training is put back to its last validation, or to its beginning.
///
/// Throws: tend::IoError - a checkpoint cannot be written
Course train_to_end(Training& training);

}  // namespace train
