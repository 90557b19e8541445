#pragma once

#include <functional>
#include <string>

#include "examples/train/run/training.h"

namespace train {

/// How a training went.
struct Course {
  History history;      ///< Of all its steps, also of those that were taken back.
  std::string failure;  ///< What was not finite; empty where everything was.
};

/// Trains until the last step or an interruption. A loss that is not finite ends it, too: weights
/// that give one were ruined some steps before, so the training is put back to its last validation
/// (or to where it began). After each step save() is called, which may write a checkpoint.
Course train_to_end(Training& training, const std::function<void()>& save);

}  // namespace train
