// Causal self-attention: no token attends to later tokens.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>
#include <tend/nn/module/module_list.h>

namespace tend::attention {

/// Causal attention with one head, over batches.
class CausalAttention : public nn::Module<CausalAttention> {
 public:
  /// Throws:
  ///   ShapeError - d_in is below 1, or another size is below 0
  ///   Error      - dropout is outside [0, 1]
  CausalAttention(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                  double dropout, Flag qkv_bias = false);

  /// x is (..., T, d_in); the result is (..., T, d_out).
  ///
  /// Throws: ShapeError - T exceeds context_length, or the last dimension is not d_in
  Tensor forward(const Tensor& x) const;
  /// Also returns the weights (..., T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Dropout, dropout);
  /// 1 where a key is hidden, as in the book (S. Raschka, Build a Large Language Model). forward
  /// reads only the mask's size, because it always computes causal attention. Loading a state dict
  /// with another mask throws an Error.
  TEND_BUFFER(mask, {.persistent = false});

 protected:
  void check_loaded(const std::string& field, const Tensor& value) const override;

 private:
  AttentionOptions options() const { return {.dropout_p = dropout.active_p(), .is_causal = true}; }
};

/// Several CausalAttention heads next to each other. Their contexts are concatenated: (..., T,
/// num_heads * d_out).
class MultiHeadAttentionWrapper : public nn::Module<MultiHeadAttentionWrapper> {
 public:
  MultiHeadAttentionWrapper(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                            double dropout, std::int64_t num_heads, Flag qkv_bias = false);

  Tensor forward(const Tensor& x) const;
  /// Also returns the weights of all heads, (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  TEND_MODULE(nn::ModuleList<CausalAttention>, heads);
};

}  // namespace tend::attention
