// Attention in tiles. Internal: callers have checked the arguments.
#pragma once

#include <string>

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// Returns the reason why the fused path cannot compute the call, or "" if it can.
std::string fused_obstacle(const AttentionCall& call, const Tensor& query, const Tensor& key,
                           const Tensor& value);

/// True if AttentionPath::automatic uses the fused path: because it is faster, or because its bits
/// depend neither on the number of queries nor on later keys.
bool fused_pays(const AttentionCall& call, const Tensor& query, const Tensor& key,
                const Tensor& value);

/// Computes the context in tiles, without storing the weights. The gradient is computed in tiles,
/// too; with create_graph it is composed of public operations instead. `kept` is the dropout mask
/// (draw_kept). If it is undefined, the function draws one.
Tensor fused_attention(const AttentionCall& call, const Tensor& query, const Tensor& key,
                       const Tensor& value, Tensor kept);

}  // namespace tend::attention
