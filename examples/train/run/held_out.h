#pragma once

#include <vector>

#include "examples/train/task/tasks.h"

namespace train {

// Sequences that are never trained on. They are the same for every seed, so that runs can be
// compared.

/// A thousand sequences for the final results. For a text, all held-out sequences.
std::vector<Tokens> examination_sequences(const Task& task);

/// Two thousand sequences that decide whether a run continues. They contain no sequence of
/// examination_sequences(). A small task may have fewer such sequences, or none.
std::vector<Tokens> check_sequences(const Task& task);

}  // namespace train
