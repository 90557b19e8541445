#pragma once

#include <tend/tend.h>

#include "examples/train/run/options.h"
#include "examples/train/task/tasks.h"

namespace train {

using Model = tend::attention::GPT;

/// Makes a GPT for the task. Its weights are normal random numbers from the default generator.
///
/// Their standard deviations come from the options. For weights that write into the residual
/// stream, the standard deviations are divided by sqrt(2 * layers). Biases are zero.
Model make_model(const Options& options, const Task& task);

/// AdamW, with weight decay on matrices only.
tend::optim::AdamW make_optimizer(const Options& options, const Model& model);

/// The tokens as an int64 tensor (size, length).
tend::Tensor token_tensor(const Tokens& tokens, std::size_t size, std::size_t length);

/// The mean cross entropy of the batch's answers. Logits are (size, length, vocabulary).
tend::Tensor answer_loss(const tend::Tensor& logits, const Batch& batch);

/// The most likely token at each position.
Tokens most_likely(const tend::Tensor& logits);

}  // namespace train
