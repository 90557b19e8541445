// Self-attention with trainable weights, in two ways of holding them.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

class SelfAttentionV2;

/// How SelfAttentionV1 draws its parameters: torch.rand or torch.randn.
enum class Draw { uniform, normal };

/// Projections as plain matrices (d_in, d_out), drawn in the order query, key, value.
class SelfAttentionV1 : public nn::Module<SelfAttentionV1> {
 public:
  /// ShapeError for a size below 1.
  SelfAttentionV1(std::int64_t d_in, std::int64_t d_out, Draw draw = Draw::uniform);

  /// (..., T, d_in) -> (..., T, d_out).
  Tensor forward(const Tensor& x) const;
  AttentionOutput with_weights(const Tensor& x) const;

  /// Takes the weights of `other`, whose Linear layers hold them transposed. Error when it has
  /// biases, ShapeError when the sizes differ; nothing has changed then.
  void copy_weights(const SelfAttentionV2& other);

  TEND_PARAMETER(W_query);
  TEND_PARAMETER(W_key);
  TEND_PARAMETER(W_value);
};

/// Projections as Linear layers.
class SelfAttentionV2 : public nn::Module<SelfAttentionV2> {
 public:
  SelfAttentionV2(std::int64_t d_in, std::int64_t d_out, Flag qkv_bias = false);

  /// (..., T, d_in) -> (..., T, d_out).
  Tensor forward(const Tensor& x) const;
  AttentionOutput with_weights(const Tensor& x) const;

  /// Takes the weights of `other`; biases become zero.
  void copy_weights(const SelfAttentionV1& other);

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
};

}  // namespace tend::attention
