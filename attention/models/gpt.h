// GPT: a stack of blocks that predicts the next token.
#pragma once

#include <cstdint>
#include <vector>

#include <tend/attention/models/gpt_inputs.h>
#include <tend/attention/models/position_embedding.h>
#include <tend/attention/models/transformer_block.h>
#include <tend/nn/layers/embedding.h>
#include <tend/nn/module/module_list.h>

namespace tend::attention {

/// Logits of the next token, and the attention weights of every layer.
struct GPTOutput {
  Tensor logits;                // (B, T, vocab_size)
  std::vector<Tensor> weights;  // per layer, (B, num_heads, T, T)
};

/// Token and position embeddings, blocks, a last norm, and a head without bias, each as its
/// configuration says. ShapeError for sizes that its parts do not take, and for a negative number
/// of layers.
class GPT : public nn::Module<GPT> {
 public:
  explicit GPT(const GPTConfig& config);

  /// int64 tokens (B, T) -> logits (B, T, vocab_size). Throws:
  ///
  /// - ShapeError when T and what is cached exceed context_length, for padding that is not (B,),
  ///   positions or documents that are neither (B, T) nor (T), and another batch than the cache
  ///   holds;
  /// - IndexError for a token outside of the vocabulary, a position outside of context_length;
  /// - DTypeError for padding, positions or documents that are not int64;
  /// - AutogradError for a cache where a graph of keys or values is recorded;
  /// - Error for a cache without room, with a window below the model's, or with tokens of a model
  ///   of other layers; for padding that is negative or, without a cache, more than T; for
  ///   documents with a cache or padding; for positions of ALiBi with a cache.
  Tensor forward(const Tensor& tokens, const GPTInputs& inputs = {}) const;
  Tensor operator()(const Tensor& tokens, const GPTInputs& inputs = {}) const;
  /// The logits, equal to those of forward but for rounding, and the attention weights (B,
  /// num_heads, T, T) of each layer. Errors of forward.
  GPTOutput with_weights(const Tensor& tokens) const;

  GPTConfig config;
  TEND_MODULE(nn::Embedding, token_embedding);
  TEND_MODULE(PositionEmbedding, position_embedding);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::ModuleList<TransformerBlock>, blocks);
  TEND_MODULE(Norm, norm);
  /// With config.tied_head its weight is the token embedding's.
  TEND_MODULE(nn::Linear, head);

 private:
  void check_inputs(const Tensor& tokens, const GPTInputs& inputs) const;
  Tensor embed(const Tensor& tokens, const GPTInputs& inputs) const;
};

}  // namespace tend::attention
