// What both paths of attention share: from scores to weights. Not for users: the arguments are
// checked.
#pragma once

#include <tend/attention/functions/options.h>

namespace tend::attention {

/// The factor of the scores.
double scale_of(const Tensor& query, const AttentionOptions& options);

/// The leading dimensions of a stack of matrices.
Shape batch_shape(const Tensor& matrices);

/// scale * query @ key^T, (..., queries, keys).
Tensor compute_scores(const Tensor& query, const Tensor& key, double scale);

/// Weights before dropout: what softmax makes of the scores that mask and causal rule leave.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options);

}  // namespace tend::attention
