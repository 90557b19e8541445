// The attention of a block.
#pragma once

#include <tend/attention/functions/attention_options.h>
#include <tend/attention/models/block_norm.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

struct TokenPlaces;  // internal: token_places.h

/// Causal self-attention with as many heads of queries as a configuration says, which share fewer
/// heads of keys and values (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245), and with its
/// positions, window and norms of heads. With equal numbers, none of these and learned positions it
/// computes what MultiHeadAttention does. Parameters are drawn in the order W_query, W_key,
/// W_value, out_proj.
class GroupedQueryAttention : public nn::Module<GroupedQueryAttention> {
 public:
  /// Errors of checked_block.
  explicit GroupedQueryAttention(const GPTConfig& config);

  /// (..., T, width), shape kept; (B, T, width) where `places` have a cache or padding.
  Tensor forward(const Tensor& x, const TokenPlaces& places) const;
  /// The same for tokens that follow nothing. ShapeError when T exceeds context_length.
  Tensor forward(const Tensor& x) const;
  /// The weights have the shape (..., num_heads, T, keys).
  AttentionOutput with_weights(const Tensor& x, const TokenPlaces& places) const;
  /// The same for tokens that follow nothing: weights (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  GPTConfig config;
  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Linear, out_proj);
  /// RMSNorm of each head's query and key, with `qk_norm`.
  TEND_PARAMETER(query_norm);
  TEND_PARAMETER(key_norm);
  TEND_MODULE(nn::Dropout, dropout);

 private:
  struct Heads {
    Tensor query, key, value;  // (..., heads, T, head_dim)
  };
  Heads split(const Tensor& x, const TokenPlaces& places) const;
};

}  // namespace tend::attention
