// The two ways of computing scaled_dot_product_attention. Not for users: the arguments are checked.
#pragma once

#include <string>

#include <tend/attention/scaled_dot_product.h>

namespace tend::attention {

/// The factor of the scores.
double scale_of(const Tensor& query, const AttentionOptions& options);

/// The leading dimensions of a stack of matrices.
Shape batch_shape(const Tensor& matrices);

/// Weights before dropout: what softmax makes of the visible scores.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options);

/// Why the fused path does not do this; empty when it does.
std::string fused_obstacle(const Tensor& query, const Tensor& key, const Tensor& value,
                           const AttentionOptions& options);

/// True when the fused path is the faster one.
bool fused_pays(const Tensor& query, const Tensor& key);

/// In tiles, without holding the weights; its gradient too. Composed are only gradients that are to
/// be differentiated themselves.
Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const AttentionOptions& options);

}  // namespace tend::attention
