#pragma once

#include <string>

#include "examples/train/run/training.h"

namespace train {

/// How a training went.
struct Course {
  History history;       ///< Of all its steps, also of those that were taken back.
  std::string failure;   ///< Why it could not go on; empty where it could.
  bool is_saved = true;  ///< Whether all checkpoints on the way could be written.
};

/// Trains until the last step or an interruption. A loss that is not finite ends it, too: weights
/// that give one were ruined some steps before, so the training is put back to its last validation
/// (or to where it began). A checkpoint that cannot be written is reported on stderr, and the
/// training goes on.
Course train_to_end(Training& training);

}  // namespace train
