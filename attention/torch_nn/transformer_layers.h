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
  /// Normalises the input of each part, instead of the sum of the part's input and result.
  Flag norm_first = false;
  Flag bias = true;  ///< the bias of every Linear and LayerNorm
};

/// Which tokens the tokens of an encoder see. In bool masks true means hidden; see
/// MultiheadAttentionMasks.
struct EncoderMasks {
  Tensor src_mask = {};  ///< in torch.nn.TransformerEncoder, its name is mask
  Tensor src_key_padding_mask = {};
  Flag is_causal = false;
  /// For a causal encoder as a language model: src are the tokens after the cached ones. See
  /// DecoderMasks::cache.
  attention::KVCache* cache = nullptr;
};

/// Which tokens the tokens of a decoder see, among themselves and in the memory. In bool masks true
/// means hidden; see MultiheadAttentionMasks.
struct DecoderMasks {
  Tensor tgt_mask = {};
  Tensor memory_mask = {};
  Tensor tgt_key_padding_mask = {};
  Tensor memory_key_padding_mask = {};
  Flag tgt_is_causal = false;
  Flag memory_is_causal = false;
  /// For decoding step by step: tgt are the tokens after the cached ones. The results have the same
  /// bits as one call with all tokens.
  ///
  /// The cache stores the keys and values of tgt. It also stores the keys and values of memory as
  /// long as memory is the same tensor (MultiheadAttentionMasks::static_kv). Several tokens in one
  /// call, such as a prompt, need tgt_is_causal or a tgt_mask. The size S of tgt's masks includes
  /// the earlier tokens. With a cache, memory_is_causal is an Error. A cache belongs to a whole
  /// decoder, or to a layer that is called by itself. Call the decoder or layer under a
  /// NoGradGuard.
  attention::KVCache* cache = nullptr;
};

/// torch.nn.TransformerEncoderLayer: self-attention, and then a feed-forward network (Linear,
/// activation, Linear). Each of the two parts has dropout, a sum with its input, and a norm.
///
/// The input is (L, N, d_model), (N, L, d_model) with batch_first, or (L, d_model) without a batch.
/// The result has the same shape. Training and evaluation compute the same except for dropout;
/// PyTorch's "fast path" does not exist here. Vaswani et al. 2017,
/// https://arxiv.org/abs/1706.03762.
class TransformerEncoderLayer : public Module<TransformerEncoderLayer> {
 public:
  /// Throws:
  ///   ShapeError - a size is below 1, or nhead does not divide d_model
  ///   Error      - dropout is outside [0, 1]
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});

  /// Throws:
  ///   ShapeError           - the shapes of src and masks do not fit together
  ///   DTypeError           - the dtypes of src and masks do not fit together
  ///   Error                - the cache has tokens of several layers
  ///   Error, AutogradError - MultiheadAttention does not accept the cache; see there
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

/// torch.nn.TransformerDecoderLayer: an encoder layer with an additional part in the middle, which
/// attends to the encoder's results.
class TransformerDecoderLayer : public Module<TransformerDecoderLayer> {
 public:
  /// Throws the errors of TransformerEncoderLayer.
  TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                          const TransformerLayerOptions& options = {});

  /// tgt is (T, N, d_model) and memory (S, N, d_model), or they have the other shapes of
  /// TransformerEncoderLayer. The result has tgt's shape.
  ///
  /// Throws:
  ///   ShapeError           - the shapes of tgt, memory and masks do not fit together
  ///   DTypeError           - the dtypes of tgt, memory and masks do not fit together
  ///   Error                - the cache has tokens of several layers
  ///   Error, AutogradError - MultiheadAttention does not accept the cache; see there
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
