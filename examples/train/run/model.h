#pragma once

#include <tend/tend.h>

#include "examples/train/run/options.h"
#include "examples/train/task/tasks.h"

namespace train {

using Model = tend::attention::GPT;

/// A GPT for the task. Its weights are drawn from the default generator: normal with the options'
/// deviations, those that write into the residual stream also divided by sqrt(2 layers); biases are
/// zero.
Model make_model(const Options& options, const Task& task);

/// AdamW, with weight decay on matrices only.
tend::optim::AdamW make_optimizer(const Options& options, const Model& model);

/// (size, length), int64.
tend::Tensor token_tensor(const Tokens& tokens, std::size_t size, std::size_t length);

/// The mean cross entropy over the batch's answers; logits are (size, length, vocabulary).
tend::Tensor answer_loss(const tend::Tensor& logits, const Batch& batch);

/// The most likely token at each position.
Tokens most_likely(const tend::Tensor& logits);

}  // namespace train
