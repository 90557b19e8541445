// Attention in tiles. Internal: callers have checked the arguments.
#pragma once

#include <string>

#include <tend/attention/functions/call.h>

namespace tend::attention {

/// Why the fused path cannot compute this; empty when it can.
std::string fused_obstacle(const AttentionCall& call, const Tensor& query, const Tensor& key,
                           const Tensor& value);

/// True when the fused path is the faster one, or gives a sequence the bits that it has as a part
/// of a longer one.
bool fused_pays(const AttentionCall& call, const Tensor& query, const Tensor& key,
                const Tensor& value);

/// Computes the context in tiles, without storing the weights, and its gradient likewise. Under
/// create_graph the gradient is composed of public operations instead. Dropout keeps what `kept`
/// says (draw_kept), or draws that where it is undefined.
Tensor fused_attention(const AttentionCall& call, const Tensor& query, const Tensor& key,
                       const Tensor& value, Tensor kept);

}  // namespace tend::attention
