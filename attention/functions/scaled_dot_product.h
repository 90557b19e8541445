/// \file
/// Scaled dot-product attention, on which all attention modules are built.
#pragma once

#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

///@{
/// Scaled dot-product attention: weights @ value with weights = softmax(scale * query @ key^T +
/// mask), after dropout.
///
/// query is (..., T, D), key (..., S, D) and value (..., S, V). The result is (..., T, V). Leading
/// dimensions broadcast, and all inputs have one floating dtype. With enable_gqa the query has a
/// multiple of the heads (dimension -3) of key and value: consecutive heads of the query share one
/// head of key and value. The mask is described in AttentionOptions: in a bool mask, true means
/// that a query may attend. A query that may attend to nothing, or whose scores are all -inf, gets
/// zeros. Positional arguments have PyTorch's order.
///
/// For the gradient g of the result:
/// - value: weights^T @ g
/// - weights: g @ value^T; the derivatives of dropout and masked_softmax turn this into s, the
///   gradient of the scores
/// - a floating mask: s
/// - query: scale * s @ key
/// - key: scale * s^T @ query
///
/// If a query attends to nothing and the inputs are finite, the query contributes zeros to all
/// these gradients.
///
/// The fused path accepts any strides. Its result has the layout of the query, so split heads are
/// merged without a copy. It drops the same weights as the composed path, and stores one bit for
/// each weight. Second and higher derivatives are computed with public operations. The fused path
/// does not support:
/// - a floating mask that requires grad or has another dtype than the query;
/// - a value with leading dimensions that the weights do not have;
/// - dropout_p = 1;
/// - is_causal with a query_offset above 0, if a gradient is recorded.
///
/// In these cases AttentionPath::automatic uses the composed path, and AttentionPath::fused throws
/// an Error that says why. AttentionPath::automatic also uses the composed path if a gradient is
/// recorded and there are few queries compared with the keys.
///
/// Throws:
///   ShapeError - the sizes of the inputs or of the mask do not fit together
///   DTypeError - query, key and value do not have one floating dtype, or the mask is int64
///   Error      - dropout_p is outside [0, 1], or query_offset is negative
///   Error      - the path is AttentionPath::fused, and the fused path does not support this
///
/// Dao et al. 2022, https://arxiv.org/abs/2205.14135 (the fused path); Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762; torch.nn.functional.scaled_dot_product_attention.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});
template <TensorOrNone M>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const M& attn_mask, double dropout_p = 0,
                                    Flag is_causal = false,
                                    std::optional<double> scale = std::nullopt,
                                    Flag enable_gqa = false) {
  return scaled_dot_product_attention(query, key, value,
                                      AttentionOptions{.attn_mask = attn_mask,
                                                       .dropout_p = dropout_p,
                                                       .is_causal = is_causal,
                                                       .scale = scale,
                                                       .enable_gqa = enable_gqa});
}
///@}

/// scaled_dot_product_attention that also returns the weights (..., T, S), after dropout.
///
/// It has the shapes, dtypes and errors of scaled_dot_product_attention. Context and weights both
/// have a gradient. Both are computed on the composed path. So the context equals the result of
/// scaled_dot_product_attention only up to rounding. Likewise, the
/// context of a prefix that is computed alone equals the first rows of the whole sequence's context
/// only up to rounding.
///
/// Throws: Error - options.path is fused
AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options = {});

}  // namespace tend::attention

namespace tend {
/// Also available in namespace tend, where softmax and the other functions are.
using attention::scaled_dot_product_attention;
}  // namespace tend
