// Attention in tiles, without ever holding its weights: Dao et al. 2022, FlashAttention,
// https://arxiv.org/abs/2205.14135.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// What lies between the products query @ key^T and weights @ value. Masks are expanded to the
/// shape of the weights, (..., T, S), and their strides are taken as they are.
struct AttentionRule {
  double scale = 1;
  bool is_causal = false;  // query i sees keys 0 to i
  Array mask = {};         // bool, true where a query may attend; or added; or undefined
  Array kept = {};         // the draw_keep_bits of all weights, see keep_bits_room; or undefined
  double keep_factor = 1;  // what dropout multiplies the kept weights with
};

/// out = dropout(softmax(scale * query @ key^T, masked)) @ value. In log_sums (..., 2, T),
/// contiguous, each query's largest score, and the logarithm of the sum of e^(score - largest): one
/// number for both would lose the second beside scores of -1e9. The first is infinite where a query
/// may attend to nothing, and then `out` is 0. query is (..., T, D), key (..., S, D), value (...,
/// S, V) and out (..., T, V), all of one floating dtype and with the same leading dimensions, of
/// any strides; out has the stride 1 in its last dimension. What causality hides is left out,
/// unless values that are not finite make a NaN of its zero weights.
void attention(const Array& out, const Array& log_sums, const Array& query, const Array& key,
               const Array& value, const AttentionRule& rule);

/// Results of attention_backward: of the shapes of query, key and value, with the stride 1 in the
/// last dimension; or undefined where nobody needs them.
struct AttentionGradients {
  Array query, key, value;
};

/// The gradients for that of the result, `grad`, given what `attention` made and had.
void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule);

}  // namespace tend::kernels
