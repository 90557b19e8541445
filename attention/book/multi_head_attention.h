// Multi-head attention with one projection for all heads.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

/// Causal attention with several heads. Three projections make the queries, keys and values of all
/// heads, which are then split into heads. `out_proj` combines the heads. Parameters are
/// initialised in the order W_query, W_key, W_value, out_proj.
class MultiHeadAttention : public nn::Module<MultiHeadAttention> {
 public:
  /// Throws:
  ///   ShapeError - num_heads does not divide d_out
  ///   ShapeError - a size is below 1; context_length may be 0
  ///   Error      - dropout is outside [0, 1]
  MultiHeadAttention(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                     double dropout, std::int64_t num_heads, Flag qkv_bias = false);

  /// x is (..., T, d_in); the result is (..., T, d_out).
  ///
  /// Throws: ShapeError - T exceeds context_length, or the last dimension is not d_in
  Tensor forward(const Tensor& x) const;
  /// Also returns the weights (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  std::int64_t num_heads;
  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Linear, out_proj);
  TEND_MODULE(nn::Dropout, dropout);
  /// 1 where a key is hidden, as in the book (S. Raschka, Build a Large Language Model). forward
  /// reads only the mask's size, because it always computes causal attention. Loading a state dict
  /// with another mask throws an Error.
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
