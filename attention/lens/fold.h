/// \file
/// Models that compute the same with weights that are easier to read.
#pragma once

#include <tend/attention/models/gpt.h>

namespace tend::lens {

/// A copy whose norms have neither weight nor bias of their own (1 and 0): both went into the maps
/// that read the norms. Maps without a bias get one where the norm has one, and a tied head becomes
/// one of its own. The logits equal the model's but for rounding.
attention::GPT fold_norms(const attention::GPT& model);

/// A copy in which all that is written to the residual stream (embeddings, outputs of attentions
/// and feed-forward networks) has the mean 0 over d_model, which LayerNorm subtracts anyway: the
/// logits equal the model's but for rounding. A tied head becomes one of its own. Error for a model
/// of RMSNorm, which subtracts no mean.
attention::GPT centre_writing(const attention::GPT& model);

/// A copy whose head has the mean 0 over the vocabulary: all logits of a token change by one
/// number, so their softmax is the same. A tied head becomes one of its own.
attention::GPT centre_unembedding(const attention::GPT& model);

}  // namespace tend::lens
