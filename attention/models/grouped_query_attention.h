// The attention of a block.
#pragma once

#include <tend/attention/functions/attention_options.h>
#include <tend/attention/models/block_norm.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/linear.h>

namespace tend::attention {

struct TokenPlaces;  // internal: token_places.h

/// The causal self-attention of a block. Several heads of queries may share a head of keys and
/// values (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245).
///
/// A GPTConfig sets the numbers of heads, the positions, the window, and whether heads are
/// normalised. The module computes the same as MultiHeadAttention if no heads are shared, positions
/// are learned, and there are no window and no norms of heads. Parameters are initialised in the
/// order W_query, W_key, W_value, out_proj.
class GroupedQueryAttention : public nn::Module<GroupedQueryAttention> {
 public:
  /// Throws the errors of checked_block.
  explicit GroupedQueryAttention(const GPTConfig& config);

  /// x is (..., T, width), and so is the result. If `places` has a cache or padding, x is (B, T,
  /// width).
  Tensor forward(const Tensor& x, const TokenPlaces& places) const;
  /// For a call without a cache.
  ///
  /// Throws: ShapeError - T exceeds context_length
  Tensor forward(const Tensor& x) const;
  /// Returns the result of forward and the weights (..., num_heads, T, keys).
  AttentionOutput with_weights(const Tensor& x, const TokenPlaces& places) const;
  /// For a call without a cache: the weights are (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  GPTConfig config;
  TEND_MODULE(nn::Linear, W_query);
  TEND_MODULE(nn::Linear, W_key);
  TEND_MODULE(nn::Linear, W_value);
  TEND_MODULE(nn::Linear, out_proj);
  /// The weights of the RMSNorm of each head's query and key, if `qk_norm`.
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
