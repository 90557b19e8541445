/// \file
/// Attention with scores and masks that are functions of their place.
#pragma once

#include <optional>
#include <vector>

#include <tend/attention/expressions/functions.h>
#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

/// What defines an attention.
struct FlexOptions {
  /// What becomes of the scaled scores: f(score, at). Several are joined with +.
  ScoreFunction score = {};
  /// Where a query may attend: f(at).
  MaskFunction mask = {};
  /// Probability with which a weight is dropped; pass 0 outside of training.
  double dropout_p = 0.0;
  /// Factor of the scores; 1 / sqrt(head_dim) when not given.
  std::optional<double> scale = {};
  /// Each head of key and value serves several consecutive heads of the query.
  Flag enable_gqa = false;
  AttentionPath path = AttentionPath::automatic;
};

/// weights @ value with weights = softmax(score(scale * query @ key^T)) over the keys that the mask
/// leaves, after dropout:
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
/// query is (..., T, D), key (..., S, D), value (..., S, V), the result (..., T, V); leading
/// dimensions broadcast. With enable_gqa the query has a multiple of the heads (dimension -3) of
/// key and value. Functions are called once, when the options are made. A query whose scores are
/// hidden or -inf throughout gets zeros. ShapeError where sizes do not fit, DTypeError unless all
/// have one floating dtype, Error for dropout_p outside of [0, 1] and for more than 2^31 - 1
/// batches, heads, queries or keys, IndexError where a look-up misses its table at a visible place.
///
/// The gradients of query, key and value are those of scaled_dot_product_attention, with the
/// derivative of the score function in between; floating tables have gradients, too, which are
/// summed in a fixed order: in float64 on the fused path and where the composed one adds to an
/// index, otherwise as sum() does. NaN and infinities at hidden places spread as under its
/// causal rule: those of a value reach the result, unless dropout drops them; those of a key or
/// query may, unless the fused path skips their tile, as it does where all values of a head are
/// finite. Those that the score function makes there reach neither the result nor a gradient.
///
/// The fused path evaluates the functions tile by tile, in memory that grows with T and not with
/// T * S; it passes over tiles where bounds of the mask's indices show that it hides all, and does
/// not evaluate it where they show that it hides none. Dropout draws the same weights on both
/// paths. Dong et al. 2024, https://arxiv.org/abs/2412.05496;
/// torch.nn.attention.flex_attention.flex_attention.
Tensor flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                      const FlexOptions& options = {});

/// flex_attention together with its weights (..., T, S), after dropout; its shapes, dtypes and
/// errors. Both have a gradient, and are composed, as those of attention_with_weights.
AttentionOutput flex_attention_with_weights(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const FlexOptions& options = {});

/// What flex_attention_with_heads shows of n heads, in the order in which they were asked for.
struct HeadDetails {
  Tensor context;      ///< (..., T, V), of all heads, as flex_attention gives it
  Tensor weights;      ///< (..., n, T, S), after dropout
  Tensor scores;       ///< (..., n, T, S), after the score function, before the mask
  Tensor log_sum_exp;  ///< (..., n, T), of the visible scores; -inf where there are none
};

/// flex_attention together with the weights, the scores and their logsumexp of the heads with these
/// numbers (in dimension -3; IndexError outside of it): on the fused path, too, at the cost of
/// these heads alone. Shapes, dtypes and errors are those of flex_attention; ShapeError where there
/// is no dimension -3. All have gradients: those of softmax and logsumexp over the visible scores.
HeadDetails flex_attention_with_heads(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const std::vector<std::int64_t>& heads,
                                      const FlexOptions& options = {});

}  // namespace tend::attention
