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

/// Where checkpoints on the way and logs go.
struct Saving {
  std::filesystem::path folder;
  std::uint64_t every = 0;  ///< Steps; 0: there are none.
  std::uint64_t keep = 3;   ///< How many checkpoints stay.
};

/// A model on its way. The default generator belongs to it: weights and dropout are drawn there.
class Training {
 public:
  /// `processes` is referred to; only the first of them saves and shows progress.
  Training(const Options& options, Task task, Processes& processes, const Saving& saving = {});
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  std::uint64_t steps_done() const { return history.losses.size(); }
  /// The options' steps, or as many as failed checks have made of them.
  std::uint64_t steps_planned() const;
  bool is_complete() const { return steps_done() >= steps_planned(); }
  /// The learning rate of the next step: the cosine ends with the planned steps.
  double next_rate() const;
  double tokens_per_second() const;
  /// Plans no more steps.
  void end_here();
  /// Keeps a copy of the state, as each validation does.
  void remember();
  /// To the copy.
  void put_back() { trainer.state.load_state_dict(sound_); }

  Options options;
  Task task;
  Model model;
  tend::optim::AdamW optimizer;
  History history;
  /// Its steps draw the batches, validate where that is due, and check where the planned steps end
  /// and there may be more. It throws tend::nn::NotFiniteError for a loss, before the weights
  /// change, and for a validation's loss after it.
  tend::nn::Trainer trainer;

 private:
  tend::nn::TrainerOptions trainer_options(const Processes& processes, const Saving& saving);
  double next_gradients();
  void note(tend::nn::TrainedStep& done);
  void validate();
  void check();

  std::vector<Tokens> watched_;
  tend::nn::StateDict sound_;  // the copy
  std::uint64_t saved_every_;
  Processes& processes_;
  std::chrono::steady_clock::time_point start_;  // of the step
};

/// How a training went.
struct Course {
  History history;      ///< Of all its steps, also of those that were taken back.
  std::string failure;  ///< Why it could not go on; empty where it could.
};

/// Trains until the last step or an interruption. A loss that is not finite ends it, too: weights
/// that give one were ruined some steps before, so the training is put back to its last validation
/// (or to where it began). Throws tend::IoError for a checkpoint that cannot be written.
Course train_to_end(Training& training);

}  // namespace train
