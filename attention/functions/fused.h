// Attention in tiles. Not for users: the arguments are checked.
#pragma once

#include <string>

#include <tend/attention/functions/options.h>

namespace tend::attention {

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
