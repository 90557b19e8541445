// Attention in tiles. Internal: callers have checked the arguments.
#pragma once

#include <string>

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// The reason why the fused path cannot compute this; empty if it can.
std::string fused_obstacle(const AttentionCall& call, const Tensor& query, const Tensor& key,
                           const Tensor& value);

/// Whether the automatic choice is the fused path. It is if the fused path is faster, or if only
/// this path gives a sequence the same bits alone and as the beginning of a longer one.
bool fused_pays(const AttentionCall& call, const Tensor& query, const Tensor& key,
                const Tensor& value);

/// Computes the context in tiles, without storing the weights. The gradient is computed in tiles,
/// too; with create_graph it is composed of public operations instead. Dropout keeps the weights in
/// `kept` (draw_kept). If `kept` is undefined, it draws them.
Tensor fused_attention(const AttentionCall& call, const Tensor& query, const Tensor& key,
                       const Tensor& value, Tensor kept);

}  // namespace tend::attention
