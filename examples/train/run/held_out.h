#pragma once

#include <vector>

#include "examples/train/task/tasks.h"

namespace train {

// Sequences that training does not see, the same for every seed, so that runs can be compared.

/// A thousand that the final figures are of; of a text, all that is held out.
std::vector<Tokens> examination_sequences(const Task& task);

/// Two thousand that decide whether a run goes on: none is also one of the examination. Where a
/// task is too small to have such, fewer or none.
std::vector<Tokens> check_sequences(const Task& task);

}  // namespace train
