#pragma once

#include <vector>

#include <tend/nn/module/state_dict.h>

#include "examples/train/page/report.h"

namespace train {

/// What has happened so far, over all sessions of a run: a part of its checkpoints.
struct History {
  double seconds = 0;           ///< Of training with its validations.
  double training_seconds = 0;  ///< Of the steps alone.
  std::vector<double> losses;   ///< One a step.
  std::vector<Validation> validations;
  std::vector<HeadsAtStep> heads;  ///< With each validation.
  std::vector<Check> checks;

  tend::nn::StateDict state_dict() const;
  /// Throws tend::Error for what no run has written; nothing has changed then.
  void load_state_dict(const tend::nn::StateDict& state);
};

}  // namespace train
