#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "examples/train/page/report.h"
#include "examples/train/run/evaluation.h"
#include "examples/train/run/model.h"
#include "examples/train/run/options.h"
#include "examples/train/task/tasks.h"

namespace train {

/// What has happened so far, over all sessions of a run.
struct History {
  double seconds = 0;           ///< Of training with its validations.
  double training_seconds = 0;  ///< Of the steps alone.
  std::vector<double> losses;   ///< One a step.
  std::vector<Validation> validations;
  std::vector<HeadsAtStep> heads;  ///< With each validation.
  std::vector<Check> checks;
};

/// A loss, or the norm of its gradient, is infinite or no number.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A model on its way. The default generator belongs to it: weights and dropout are drawn there.
class Training {
 public:
  Training(const Options& options, Task task);

  std::uint64_t steps_done() const { return history.losses.size(); }
  /// The options' steps, or as many as failed checks have made of them.
  std::uint64_t steps_planned() const;
  bool is_complete() const { return steps_done() >= steps_planned(); }
  /// The learning rate of the next step: the cosine ends with the planned steps.
  double next_rate() const;
  double tokens_per_second() const;

  /// One step, a validation where one is due, and a check where the planned steps end and there
  /// may be more. Throws NotFinite, before the weights change, if
  /// the loss or its gradient is not finite, and after it if the validation's loss is not.
  void step();

  Options options;
  Task task;
  Model model;
  tend::optim::AdamW optimizer;
  History history;
  std::uint64_t steps_before = 0;   ///< Of a resumed run: how many were planned. 0: it is new.
  std::uint64_t checked_every = 0;  ///< A validation is also due every so many steps; 0: none is.

 private:
  void train_on_next_batch();
  void validate();
  void check();

  std::vector<tend::Tensor> parameters_;
  std::vector<Tokens> watched_;
};

}  // namespace train
