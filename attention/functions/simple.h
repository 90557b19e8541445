// Attention without trainable weights, in steps: dot products, a normalisation, weighted sums.
#pragma once

#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// The dot products of `query` (D) with all rows of `inputs` (T, D): (T).
Tensor dot_scores(const Tensor& query, const Tensor& inputs);
/// The dot products of all rows of `inputs` (T, D) with each other: (T, T).
Tensor dot_scores(const Tensor& inputs);

/// x / sum(x) over all elements.
Tensor sum_normalize(const Tensor& x);
/// exp(x) / sum(exp(x)) over `dim`, computed exactly as this formula says. It overflows for large
/// x; tend::softmax does not.
Tensor softmax_naive(const Tensor& x, std::int64_t dim = 0);

/// Attention without trainable weights: softmax(query @ inputs^T) @ inputs.
///
/// inputs is (T, D). For one query (D) the context is (D) and the weights are (T). Without a query
/// each row of the inputs is a query: the context is (T, D) and the weights are (T, T).
AttentionOutput simple_attention(const Tensor& query, const Tensor& inputs);
AttentionOutput simple_attention(const Tensor& inputs);

}  // namespace tend::attention
