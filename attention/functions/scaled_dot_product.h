/// \file
/// Scaled dot-product attention, on which all attention modules are built.
#pragma once

#include <tend/attention/functions/attention_options.h>

namespace tend::attention {

///@{
/// weights @ value with weights = softmax(scale * query @ key^T + mask), after dropout. query is
/// (..., T, D), key (..., S, D), value (..., S, V), the result (..., T, V); leading dimensions
/// broadcast. With enable_gqa the query has a multiple of the heads (dimension -3) of key and
/// value; each of theirs serves as many consecutive ones. A query that may attend to nothing, or
/// whose scores are all -inf, gets zeros. ShapeError where sizes do not fit, DTypeError unless all
/// have one floating dtype and the mask is bool or floating, Error for dropout_p outside of [0, 1].
///
/// For the gradient g of the result, the gradient of value is weights^T @ g, and that of the
/// weights g @ value^T. From the latter dropout and masked_softmax make s, the gradient of the
/// scores and of a floating mask; that of query is scale * s @ key, that of key scale * s^T @
/// query. All are zero where a query attends to nothing and inputs are finite. Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762; torch.nn.functional.scaled_dot_product_attention.
///
/// The fused path (Dao et al. 2022, https://arxiv.org/abs/2205.14135) draws the same dropout mask
/// as the composed one and keeps one bit of it per weight. It takes any strides; its result has the
/// layout of the query, so that split heads are merged without a copy. Gradients of its gradients
/// are composed. It does not support floating masks that require grad or have another dtype, values
/// that bring leading dimensions of their own, dropout_p = 1, and the gradient of is_causal with a
/// query_offset. There the automatic choice is the composed path, as it is where queries are few
/// beside the keys and a gradient is recorded, and AttentionPath::fused throws an Error that says
/// why. Arguments by position have PyTorch's order.
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

/// scaled_dot_product_attention together with its weights, (..., T, S), after dropout; its shapes,
/// dtypes and errors. Context and weights both have a gradient. They are composed: the context
/// equals that without weights but for rounding, and so does that of a prefix of the sequence.
AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options = {});

}  // namespace tend::attention

namespace tend {
/// Found beside softmax and the other functions, too.
using attention::scaled_dot_product_attention;
}  // namespace tend
