#pragma once

#include <vector>

#include <tend/nn/module/state_dict.h>

#include "examples/train/page/report.h"

namespace train {

/// The measurements of a run so far, also from before it was resumed. Checkpoints include them.
struct History {
  double seconds = 0;           ///< The time of training, with validations.
  double training_seconds = 0;  ///< The time of the steps only.
  std::vector<double> losses;   ///< One per step.
  std::vector<Validation> validations;
  std::vector<HeadsAtStep> heads;  ///< One per validation.
  std::vector<Check> checks;

  tend::nn::StateDict state_dict() const;
  /// Loads a history. Changes nothing if it throws.
  ///
  /// Throws: tend::Error - no run can have written the entries
  void load_state_dict(const tend::nn::StateDict& state);
};

}  // namespace train
