// Self-attention with trainable weights, stored as matrices or as Linear layers.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

class SelfAttentionV2;

/// How SelfAttentionV1 initialises its parameters: as torch.rand or as torch.randn.
enum class Draw { uniform, normal };

/// Self-attention with projections as plain matrices (d_in, d_out). They are initialised in the
/// order query, key, value.
class SelfAttentionV1 : public nn::Module<SelfAttentionV1> {
 public:
  /// Throws: ShapeError - a size is below 1
  SelfAttentionV1(std::int64_t d_in, std::int64_t d_out, Draw draw = Draw::uniform);

  /// x is (..., T, d_in); the result is (..., T, d_out).
  Tensor forward(const Tensor& x) const;
  /// Also returns the weights (..., T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  /// Copies the weights of `other`, whose Linear layers store them transposed. If it throws,
  /// nothing has changed.
  ///
  /// Throws:
  ///   Error      - `other` has biases
  ///   ShapeError - the sizes differ
  void copy_weights(const SelfAttentionV2& other);

  TEND_PARAMETER(W_query);
  TEND_PARAMETER(W_key);
  TEND_PARAMETER(W_value);
};

/// Self-attention with projections as Linear layers.
class SelfAttentionV2 : public nn::Module<SelfAttentionV2> {
 public:
  SelfAttentionV2(std::int64_t d_in, std::int64_t d_out, Flag qkv_bias = false);

  /// x is (..., T, d_in); the result is (..., T, d_out).
  Tensor forward(const Tensor& x) const;
  /// Also returns the weights (..., T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  /// Copies the weights of `other`. Biases become zero.
  ///
  /// Throws: ShapeError - the sizes differ
  void copy_weights(const SelfAttentionV1& other);

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
};

}  // namespace tend::attention
