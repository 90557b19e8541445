// Transformer blocks, and the GPT that stacks them.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/attention/modules/multi_head_attention.h>
#include <tend/nn/layers/activation.h>
#include <tend/nn/layers/embedding.h>
#include <tend/nn/layers/normalization.h>
#include <tend/nn/module/module_list.h>

namespace tend::attention {

/// Sizes of a GPT.
struct GPTConfig {
  std::int64_t vocab_size = 256;
  std::int64_t context_length = 64;
  std::int64_t width = 64;
  std::int64_t num_heads = 4;
  std::int64_t num_layers = 2;
  double dropout = 0.0;
  Flag qkv_bias = false;
  /// That of the feed-forward networks; GPT-2 has GeluKind::tanh.
  GeluKind gelu = GeluKind::exact;
};

/// width -> 4 width -> width, with GELU between.
class FeedForward : public nn::Module<FeedForward> {
 public:
  explicit FeedForward(std::int64_t width, GeluKind gelu = GeluKind::exact);

  Tensor forward(const Tensor& x) const { return down(activation(up(x))); }

  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::GELU, activation);
  TEND_MODULE(nn::Linear, down);
};

/// x + attention(norm(x)), then x + feed_forward(norm(x)); the pre-norm form of Radford et al. 2019
/// (GPT-2).
class TransformerBlock : public nn::Module<TransformerBlock> {
 public:
  explicit TransformerBlock(const GPTConfig& config);

  /// (..., T, width), shape kept.
  Tensor forward(const Tensor& x) const;
  /// The block's output in `context`, its attention weights (..., num_heads, T, T).
  AttentionOutput with_weights(const Tensor& x) const;

  TEND_MODULE(nn::LayerNorm, norm1);
  TEND_MODULE(MultiHeadAttention, attention);
  TEND_MODULE(nn::LayerNorm, norm2);
  TEND_MODULE(FeedForward, feed_forward);
  TEND_MODULE(nn::Dropout, dropout);

 private:
  Tensor add_residuals(const Tensor& x, const Tensor& attended) const;
};

/// Logits of the next token, and the attention weights of every layer.
struct GPTOutput {
  Tensor logits;                // (B, T, vocab_size)
  std::vector<Tensor> weights;  // per layer, (B, num_heads, T, T)
};

/// Token and learned position embeddings, blocks, a last norm, and a head without bias.
/// ShapeError for sizes that its parts do not take, and for a negative number of layers.
class GPT : public nn::Module<GPT> {
 public:
  explicit GPT(const GPTConfig& config);

  /// int64 tokens (B, T) -> logits (B, T, vocab_size); ShapeError when T exceeds context_length,
  /// IndexError for a token outside of the vocabulary.
  Tensor forward(const Tensor& tokens) const;
  GPTOutput with_weights(const Tensor& tokens) const;

  GPTConfig config;
  TEND_MODULE(nn::Embedding, token_embedding);
  TEND_MODULE(nn::Embedding, position_embedding);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::ModuleList<TransformerBlock>, blocks);
  TEND_MODULE(nn::LayerNorm, norm);
  TEND_MODULE(nn::Linear, head);

 private:
  Tensor embed(const Tensor& tokens) const;
};

}  // namespace tend::attention
