/// \file
/// Attention whose scores and mask are functions of batch, head, query and key.
#pragma once

#include <optional>
#include <vector>

#include <tend/attention/expressions/functions.h>
#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// The options of flex_attention.
struct FlexOptions {
  /// Changes the scaled scores: f(score, at). Combine several functions with +.
  ScoreFunction score = {};
  /// True where a query may attend to a key: f(at).
  MaskFunction mask = {};
  /// The probability that a weight is dropped. Pass 0 outside of training.
  double dropout_p = 0.0;
  /// The factor of the scores. The default is 1 / sqrt(head_dim).
  std::optional<double> scale = {};
  /// Several consecutive heads of the query share one head of key and value.
  Flag enable_gqa = false;
  AttentionPath path = AttentionPath::automatic;
};

/// Attention with a score function and a mask function, both given as lambdas.
///
/// The result is weights @ value. The weights are the softmax of score(scale * query @ key^T) over
/// the keys where the mask is true, after dropout.
///
///     const auto slope = lookup(slopes), document = lookup(documents);
///     flex_attention(q, k, v,
///                    {.score = [&](auto s, auto at) {
///                       return s - slope(at.head) * (at.query - at.key);
///                     },
///                     .mask = [&](auto at) {
///                       return at.key <= at.query && at.query - at.key < 128 &&
///                              document(at.batch, at.query) == document(at.batch, at.key);
///                     }});
///
/// query is (..., T, D), key (..., S, D) and value (..., S, V). The result is (..., T, V). Leading
/// dimensions broadcast, and all inputs have one floating dtype. With enable_gqa the query has a
/// multiple of the heads (dimension -3) of key and value. A query gets zeros if all its scores are
/// hidden or -inf. The functions are called once, when the options are created.
///
/// Query, key and value have the gradients of scaled_dot_product_attention, except that the
/// gradient of the scores also goes through the derivative of the score function. Floating tables
/// (lookup) have a gradient, too, which is summed in a fixed order. The fused path sums it in
/// float64. The composed path also sums in float64 for tables that are read by index. For tables
/// without dimensions, it uses sum().
///
/// NaN and infinities at hidden positions have the same effect as with is_causal:
/// - From a value they reach the result, unless dropout drops the weight.
/// - From a query or key they may reach the result, unless the fused path skips the tile. The fused
///   path skips hidden tiles if all values of the head are finite.
/// - From the score function they reach neither the result nor a gradient.
///
/// The fused path evaluates the functions tile by tile, so memory grows with T and not with T * S.
/// For each tile, it computes bounds of the values that the mask function can have. If they show
/// that the whole tile is hidden, it skips the tile. If they show that nothing is hidden, it does
/// not evaluate the mask. Dropout drops the same weights on both paths.
///
/// Throws:
///   ShapeError - the sizes of the inputs do not fit together, or do not fit a function's table
///   DTypeError - the inputs do not have one floating dtype
///   IndexError - a look-up is outside of its table, or an index is divided by 0, at a visible
///                position
///   Error      - dropout_p is outside [0, 1]
///   Error      - batches * heads, queries or keys are more than 2^31 - 1
///   Error      - options.path is fused, but the fused path cannot compute this
///
/// Dong et al. 2024, https://arxiv.org/abs/2412.05496;
/// torch.nn.attention.flex_attention.flex_attention.
Tensor flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                      const FlexOptions& options = {});

/// flex_attention that also returns the weights (..., T, S), after dropout.
///
/// It has the shapes, dtypes and errors of flex_attention. Context and weights both have a
/// gradient. Both are computed on the composed path, as in attention_with_weights.
///
/// Throws: Error - options.path is fused
AttentionOutput flex_attention_with_weights(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const FlexOptions& options = {});

/// The result of flex_attention_with_heads. n is the number of requested heads. These heads are in
/// the order of the request.
struct HeadDetails {
  Tensor context;      ///< (..., T, V), of all heads: the result of flex_attention
  Tensor weights;      ///< (..., n, T, S), after dropout
  Tensor scores;       ///< (..., n, T, S), after the score function, before the mask
  Tensor log_sum_exp;  ///< (..., n, T), of the visible scores; -inf if a query sees no key
};

/// flex_attention that also returns the weights, scores and logsumexp of some heads.
///
/// `heads` are indices into dimension -3. The context may still be computed on the fused path: only
/// the requested heads need T * S memory. The function has the shapes, dtypes and other errors of
/// flex_attention. All results have gradients: weights and logsumexp have the gradients of softmax
/// and logsumexp over the visible scores.
///
/// Throws:
///   IndexError - a head is out of range
///   ShapeError - there is no dimension -3
HeadDetails flex_attention_with_heads(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const std::vector<std::int64_t>& heads,
                                      const FlexOptions& options = {});

}  // namespace tend::attention
