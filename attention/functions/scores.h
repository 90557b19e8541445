// What both paths of attention share: from scores to weights. Internal: callers have checked the
// arguments.
#pragma once

#include <tend/attention/functions/options.h>

namespace tend::attention {

/// The factor of the scores.
double scale_of(const Tensor& query, const AttentionOptions& options);

/// The leading dimensions of a stack of matrices.
Shape batch_shape(const Tensor& matrices);

/// scale * query @ key^T, (..., queries, keys).
Tensor compute_scores(const Tensor& query, const Tensor& key, double scale);

/// The weights before dropout: softmax over the scores that the mask and the causal rule leave.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options);

}  // namespace tend::attention
