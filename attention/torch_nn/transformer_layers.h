// The layers of torch.nn.Transformer.
#pragma once

#include <cstdint>

#include <tend/attention/torch_nn/activation_function.h>
#include <tend/attention/torch_nn/multihead_attention.h>
#include <tend/nn/layers/dropout.h>
#include <tend/nn/layers/normalization.h>

namespace tend::nn {

/// The options of a Transformer's layers.
struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  ActivationFunction activation = "relu";
  double layer_norm_eps = 1e-5;
  /// Inputs are (batch, tokens, width) instead of (tokens, batch, width).
  Flag batch_first = false;
  /// Normalises the input of each part instead of its sum with the result.
  Flag norm_first = false;
  Flag bias = true;  ///< of every Linear and LayerNorm
};

/// Which tokens an encoder's see. All as MultiheadAttentionMasks has them.
struct EncoderMasks {
  Tensor src_mask = {};  ///< torch.nn.TransformerEncoder calls it mask
  Tensor src_key_padding_mask = {};
  Flag is_causal = false;
  /// For a causal encoder as a language model: src are the tokens after those in the cache, as a
  /// decoder's tgt are.
  attention::KVCache* cache = nullptr;
};

/// Which tokens a decoder's see, of their own and of the memory.
struct DecoderMasks {
  Tensor tgt_mask = {};
  Tensor memory_mask = {};
  Tensor tgt_key_padding_mask = {};
  Tensor memory_key_padding_mask = {};
  Flag tgt_is_causal = false;
  Flag memory_is_causal = false;
  /// Decodes step by step: tgt are the tokens after those in the cache. The results have the bits
  /// of one call with all tokens. The cache keeps the keys and values of tgt, and those of memory
  /// while this is the same tensor (MultiheadAttentionMasks::static_kv). Several tokens in one
  /// call, such as a prompt's, need tgt_is_causal or a tgt_mask. S of tgt's masks counts the tokens
  /// before, too. memory_is_causal is an error. One cache is for a whole decoder, or for a layer
  /// that is called by itself, under a NoGradGuard.
  attention::KVCache* cache = nullptr;
};

/// torch.nn.TransformerEncoderLayer: self-attention, then Linear, activation and Linear, each with
/// dropout, a sum with its input and a norm. The shape (L, N, d_model) is kept; (N, L, d_model)
/// with batch_first, (L, d_model) without a batch. Training and evaluation compute the same but for
/// dropout: there is no "fast path", as PyTorch has one. Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762.
class TransformerEncoderLayer : public Module<TransformerEncoderLayer> {
 public:
  /// ShapeError for sizes below 1 and unless nhead divides d_model, Error for a dropout outside of
  /// [0, 1].
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});

  /// ShapeError and DTypeError where src and masks do not fit; for a cache, the errors of
  /// MultiheadAttention, and Error where it has tokens of several layers.
  Tensor forward(const Tensor& src, const EncoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}) const;

  bool norm_first;
  ActivationFunction activation;
  TEND_MODULE(MultiheadAttention, self_attn);
  TEND_MODULE(Linear, linear1);
  TEND_MODULE(Dropout, dropout);
  TEND_MODULE(Linear, linear2);
  TEND_MODULE(LayerNorm, norm1);
  TEND_MODULE(LayerNorm, norm2);
  TEND_MODULE(Dropout, dropout1);
  TEND_MODULE(Dropout, dropout2);
};

/// torch.nn.TransformerDecoderLayer: the same with attention to the encoder's results between the
/// two parts.
class TransformerDecoderLayer : public Module<TransformerDecoderLayer> {
 public:
  /// The errors of TransformerEncoderLayer.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});

  /// tgt (T, N, d_model) and memory (S, N, d_model), or as above, give tgt's shape. ShapeError
  /// and DTypeError where they and the masks do not fit; for a cache, the errors of
  /// MultiheadAttention, and Error where it has tokens of several layers.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;

  bool norm_first;
  ActivationFunction activation;
  TEND_MODULE(MultiheadAttention, self_attn);
  TEND_MODULE(MultiheadAttention, multihead_attn);
  TEND_MODULE(Linear, linear1);
  TEND_MODULE(Dropout, dropout);
  TEND_MODULE(Linear, linear2);
  TEND_MODULE(LayerNorm, norm1);
  TEND_MODULE(LayerNorm, norm2);
  TEND_MODULE(LayerNorm, norm3);
  TEND_MODULE(Dropout, dropout1);
  TEND_MODULE(Dropout, dropout2);
  TEND_MODULE(Dropout, dropout3);
};

}  // namespace tend::nn
