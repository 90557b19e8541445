// Causal self-attention: no token sees those after it.
#pragma once

#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>
#include <tend/nn/module/module_list.h>

namespace tend::attention {

/// Causal attention with one head, over batches.
class CausalAttention : public nn::Module<CausalAttention> {
 public:
  /// ShapeError for d_in below 1 or another size below 0; Error unless 0 <= dropout <= 1.
  CausalAttention(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                  double dropout, Flag qkv_bias = false);

  /// (..., T, d_in) -> (..., T, d_out); ShapeError when T exceeds context_length.
  Tensor forward(const Tensor& x) const;
  AttentionOutput with_weights(const Tensor& x) const;

  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Dropout, dropout);
  /// 1 where a key is hidden, as the book has it. forward reads only its size, since attention is
  /// causal by itself; a state with another mask is refused.
  TEND_BUFFER(mask, {.persistent = false});

 protected:
  void check_loaded(const std::string& field, const Tensor& value) const override;

 private:
  AttentionOptions options() const { return {.dropout_p = dropout.active_p(), .is_causal = true}; }
};

/// Several CausalAttention heads side by side: their contexts are concatenated, (..., T, num_heads
/// * d_out).
class MultiHeadAttentionWrapper : public nn::Module<MultiHeadAttentionWrapper> {
 public:
  MultiHeadAttentionWrapper(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                            double dropout, std::int64_t num_heads, Flag qkv_bias = false);

  Tensor forward(const Tensor& x) const;
  /// The weights of all heads, (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  TEND_MODULE(nn::ModuleList<CausalAttention>, heads);
};

}  // namespace tend::attention
