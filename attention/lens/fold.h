/// \file
/// Copies of a model that compute the same function with weights that are easier to read.
#pragma once

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// Returns a copy whose norms have the weight 1 and the bias 0. Their old weights and biases are
/// folded into the linear maps that read their results.
///
/// A linear map without a bias gets a bias if the norm has one. A tied output head gets its own
/// weight. The logits equal the model's up to rounding.
attention::GPT fold_norms(const attention::GPT& model);

/// Returns a copy in which everything that is written to the residual stream has the mean 0 over
/// d_model: embeddings, and the outputs of attentions and feed-forward networks.
///
/// LayerNorm subtracts this mean anyway, so the logits equal the model's up to rounding. A tied
/// output head gets its own weight.
///
/// Throws: Error - the model's norms are not LayerNorm
attention::GPT centre_writing(const attention::GPT& model);

/// Returns a copy whose output head has the mean 0 over the vocabulary. All logits of a position
/// change by the same number, so their softmax is unchanged. A tied output head gets its own
/// weight.
attention::GPT centre_unembedding(const attention::GPT& model);

}  // namespace tend::lens
