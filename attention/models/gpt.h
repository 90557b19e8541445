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

/// The logits of the next token, and the attention weights of every layer.
struct GPTOutput {
  Tensor logits;                // (B, T, vocab_size)
  std::vector<Tensor> weights;  // per layer, (B, num_heads, T, T)
};

/// A language model that predicts the next token: token and position embeddings, blocks, a final
/// norm, and an output head without bias. GPTConfig chooses the parts.
class GPT : public nn::Module<GPT> {
 public:
  /// Throws:
  ///   ShapeError        - num_layers or vocab_size is negative
  ///   ShapeError, Error - the configuration of a block is invalid; see checked_block
  explicit GPT(const GPTConfig& config);

  /// Computes logits (B, T, vocab_size) from int64 tokens (B, T).
  ///
  /// Throws:
  ///   ShapeError    - T and the cached tokens exceed context_length
  ///   ShapeError    - padding is not (B,), or positions or documents are neither (B, T) nor (T,)
  ///   ShapeError    - the cache has tokens of another batch size
  ///   IndexError    - a token is outside of the vocabulary, or a position outside of
  ///                   context_length
  ///   DTypeError    - padding, positions or documents are not int64
  ///   AutogradError - with a cache, gradients of keys or values are being recorded
  ///   Error         - the cache has no room, or its window is smaller than the model's
  ///   Error         - the cache has tokens of a model with another number of layers
  ///   Error         - padding is negative, or without a cache more than T
  ///   Error         - there are documents together with a cache or padding
  ///   Error         - there are positions together with a cache, and the model uses ALiBi
  Tensor forward(const Tensor& tokens, const GPTInputs& inputs = {}) const;
  Tensor operator()(const Tensor& tokens, const GPTInputs& inputs = {}) const;
  /// Returns the logits and the attention weights of each layer, (B, num_heads, T, T). The logits
  /// equal the result of forward up to rounding. Throws the errors of forward.
  GPTOutput with_weights(const Tensor& tokens) const;

  GPTConfig config;
  TEND_MODULE(nn::Embedding, token_embedding);
  TEND_MODULE(PositionEmbedding, position_embedding);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::ModuleList<TransformerBlock>, blocks);
  TEND_MODULE(Norm, norm);
  /// With config.tied_head its weight is the weight of the token embedding.
  TEND_MODULE(nn::Linear, head);

 private:
  void check_inputs(const Tensor& tokens, const GPTInputs& inputs) const;
  Tensor embed(const Tensor& tokens, const GPTInputs& inputs) const;
};

}  // namespace tend::attention
