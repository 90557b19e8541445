// Attention in tiles, without ever storing all of its weights: Dao et al. 2022, FlashAttention,
// https://arxiv.org/abs/2205.14135.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// How the product query @ key^T becomes the weights. Masks are expanded to the shape of the
/// weights, (..., T, S), and may have any strides.
struct AttentionRule {
  double scale = 1;
  bool is_causal = false;  // query i sees keys 0 to i
  Array mask = {};         // bool: true where a query may attend; floating: added; or undefined
  Array kept = {};         // the draw_keep_bits of all weights, see keep_bits_room; or undefined
  double keep_factor = 1;  // what dropout multiplies the kept weights with
};

/// out = dropout(softmax(scale * query @ key^T, masked)) @ value. log_sums (..., 2, T), contiguous,
/// receives each query's largest score and the logarithm of the sum of e^(score - largest): their
/// sum in one number would lose the second beside scores of -1e9. The first is infinite where a
/// query may attend to nothing, and then `out` is 0. query is (..., T, D), key (..., S, D), value
/// (..., S, V) and out (..., T, V), all of one floating dtype and with the same leading dimensions,
/// of any strides; out has the stride 1 in its last dimension. Keys that causality hides are
/// skipped, unless values that are not finite turn their zero weights into NaN.
void attention(const Array& out, const Array& log_sums, const Array& query, const Array& key,
               const Array& value, const AttentionRule& rule);

/// Results of attention_backward: of the shapes of query, key and value, with the stride 1 in the
/// last dimension; undefined ones are not computed.
struct AttentionGradients {
  Array query, key, value;
};

/// The gradients of query, key and value, given the gradient `grad` of `out`, and the inputs and
/// results of `attention`.
void attention_backward(const AttentionGradients& gradients, const Array& grad, const Array& out,
                        const Array& log_sums, const Array& query, const Array& key,
                        const Array& value, const AttentionRule& rule);

}  // namespace tend::kernels
