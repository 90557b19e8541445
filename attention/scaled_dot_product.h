/// \file
/// Scaled dot-product attention, the heart of every module on this floor.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor.h>

namespace tend::attention {

/// A context vector for each query, and the weights that made it.
struct AttentionOutput {
  Tensor context;  ///< (..., queries, value_dim)
  Tensor weights;  ///< (..., queries, keys), after dropout
};

/// How attention is computed. Both ways give the same numbers but for rounding, where inputs are
/// finite (a mask's -inf aside); others may spread in different ways.
enum class AttentionPath {
  automatic,  ///< the faster one
  fused,      ///< in tiles, without ever holding the weights: memory grows with T, not with T * S
  composed    ///< of public operations
};

/// While it lives, AttentionPath::automatic means `path` on this thread. It ends as a GradModeGuard
/// does.
class AttentionPathGuard {
 public:
  explicit AttentionPathGuard(AttentionPath path) noexcept;
  ~AttentionPathGuard();
  AttentionPathGuard(const AttentionPathGuard&) = delete;
  AttentionPathGuard& operator=(const AttentionPathGuard&) = delete;

 private:
  AttentionPath before_;
  std::uint64_t thread_;
};

/// How queries see keys.
struct AttentionOptions {
  /// Undefined; or bool, true where a query may attend; or floating, added to the scaled scores
  /// (-inf hides). It broadcasts to (..., queries, keys).
  Tensor mask = {};
  /// Query i sees keys 0 to i (aligned top-left, as in PyTorch). May be combined with a mask.
  Flag is_causal = false;
  /// Probability with which a weight is dropped; drawn whenever it is not 0, so pass 0 outside of
  /// training.
  double dropout_p = 0.0;
  /// Factor of the scores; 1 / sqrt(head_dim) when not given.
  std::optional<double> scale = {};
  AttentionPath path = AttentionPath::automatic;
};

/// weights @ value with weights = softmax(scale * query @ key^T + mask), after dropout. query is
/// (..., T, D), key (..., S, D), value (..., S, V), the result (..., T, V); leading dimensions
/// broadcast. A query that may attend to nothing gets zeros. ShapeError where sizes do not fit,
/// DTypeError unless all have one floating dtype and the mask is bool or floating, Error for
/// dropout_p outside of [0, 1].
///
/// For the gradient g of the result that of the value is weights^T @ g, that of the weights g @
/// value^T; s, what masked_softmax and dropout make of the latter, is that of the scores and of a
/// floating mask; the query gets scale * s @ key, the key scale * s^T @ query. All are zero where a
/// query attends to nothing and inputs are finite. Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762; torch.nn.functional.scaled_dot_product_attention.
///
/// The fused path (Dao et al. 2022, https://arxiv.org/abs/2205.14135) draws the same dropout mask
/// as the composed one and keeps one bit a weight of it. It takes any strides; its result lies as
/// the query does, so that of split heads is merged without a copy. Gradients of its gradients are
/// composed. It does not do: floating masks that require grad or have another dtype, values that
/// bring leading dimensions of their own, and dropout_p = 1. There the automatic choice is the
/// composed path, as it is for small sizes, and AttentionPath::fused an Error that says why.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

/// scaled_dot_product_attention together with its weights, (..., T, S), after dropout; its shapes,
/// dtypes and errors. Context and weights both have a gradient.
AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options = {});

/// y = softmax over the last dimension of the scores that `mask` leaves: bool, true where to
/// attend; or floating, added; or undefined. It broadcasts to the scores (ShapeError) and is not
/// int64, and the scores are floating (DTypeError). A row with nothing left is all zeros, where
/// torch.softmax has NaN. For the gradient g of y that of the scores, and of a floating mask, is y
/// (g - sum(g y)), zero where nothing is left.
Tensor masked_softmax(const Tensor& scores, const Tensor& mask);

}  // namespace tend::attention
