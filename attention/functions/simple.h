// Attention without trainable weights: dot products, a normalisation, and weighted sums.
#pragma once

#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// The dot product of `query` (D) with every row of `inputs` (T, D): (T).
Tensor dot_scores(const Tensor& query, const Tensor& inputs);
/// The dot products of all rows with each other: (T, T).
Tensor dot_scores(const Tensor& inputs);

/// x / sum(x) over all elements.
Tensor sum_normalize(const Tensor& x);
/// exp(x) / sum(exp(x)) over `dim` as the formula has it: it overflows for large x, where
/// tend::softmax does not.
Tensor softmax_naive(const Tensor& x, std::int64_t dim = 0);

/// softmax(query inputs^T) inputs for one query (D), or with `inputs` as its own queries; (T, D)
/// inputs.
AttentionOutput simple_attention(const Tensor& query, const Tensor& inputs);
AttentionOutput simple_attention(const Tensor& inputs);

}  // namespace tend::attention
