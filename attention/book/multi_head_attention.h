// Multi-head attention with one projection for all heads.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

/// Causal attention whose projections are split into heads; `out_proj` combines them. Parameters
/// are drawn in the order W_query, W_key, W_value, out_proj.
class MultiHeadAttention : public nn::Module<MultiHeadAttention> {
 public:
  /// ShapeError unless num_heads divides d_out and all sizes are positive (context_length may be
  /// 0); Error unless 0 <= dropout <= 1.
  MultiHeadAttention(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                     double dropout, std::int64_t num_heads, Flag qkv_bias = false);

  /// (..., T, d_in) -> (..., T, d_out); ShapeError when T exceeds context_length.
  Tensor forward(const Tensor& x) const;
  /// The weights have the shape (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  std::int64_t num_heads;
  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Linear, out_proj);
  TEND_MODULE(nn::Dropout, dropout);
  /// 1 where a key is hidden, as the book has it. forward reads only its size, since attention is
  /// causal by itself; a state with another mask is refused.
  TEND_BUFFER(mask, {.persistent = false});

 protected:
  void check_loaded(const std::string& field, const Tensor& value) const override;

 private:
  struct Heads {
    Tensor query, key, value;  // (..., num_heads, T, head_dim)
  };
  Heads split(const Tensor& x) const;
  AttentionOptions options() const { return {.dropout_p = dropout.active_p(), .is_causal = true}; }
};

}  // namespace tend::attention
