// Scaled dot-product attention, the heart of every module on this floor.
#pragma once

#include <optional>

#include <tend/autograd/tensor.h>

namespace tend::attention {

/// A context vector for each query, and the weights that made it.
struct AttentionOutput {
  Tensor context;  // (..., queries, value_dim)
  Tensor weights;  // (..., queries, keys), after dropout
};

/// How queries see keys.
struct AttentionOptions {
  /// Undefined; or bool, true where a query may attend; or floating, added to the scaled scores
  /// (-inf hides). It broadcasts to (..., queries, keys).
  Tensor mask = {};
  /// Query i sees keys 0 to i (aligned top-left, as in PyTorch). May be combined with a mask.
  bool is_causal = false;
  /// Probability with which a weight is dropped; drawn whenever it is not 0, so pass 0 outside of
  /// training.
  double dropout_p = 0.0;
  /// Factor of the scores; 1 / sqrt(head_dim) when not given.
  std::optional<double> scale = {};
};

/// softmax(query key^T scale + mask) value; query (..., T, D), key (..., S, D), value (..., S, V);
/// leading dimensions broadcast. A query that may attend to nothing gets zeros, and so does its
/// gradient. ShapeError and DTypeError name the argument. Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762; torch.nn.functional.scaled_dot_product_attention.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

/// As above, with the weights.
AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options = {});

/// softmax over the last dimension of the scores that `mask` (bool, true: attend; or floating,
/// added) leaves; it broadcasts to them (ShapeError). A row with nothing left is all zeros, where
/// torch.softmax has NaN.
Tensor masked_softmax(const Tensor& scores, const Tensor& mask);

}  // namespace tend::attention
