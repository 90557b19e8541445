// Encoder, decoder, and both together, as torch.nn has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tend/attention/torch_nn/transformer_layers.h>
#include <tend/nn/module/module_list.h>

namespace tend::nn {

/// torch.nn.TransformerEncoder: `num_layers` clones of a layer, which have its weights at first,
/// and behind them a norm, if one is given.
class TransformerEncoder : public Module<TransformerEncoder> {
 public:
  /// Error for a negative number of layers.
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     std::optional<LayerNorm> last_norm = std::nullopt);

  /// src (S, N, d_model), or as the layers have it, keeps its shape. The errors of the layers;
  /// Error for a cache with tokens of another number of layers.
  Tensor forward(const Tensor& src, const EncoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}) const;
  std::vector<std::pair<std::string, ModuleBase*>> named_children() override;

  TEND_MODULE(ModuleList<TransformerEncoderLayer>, layers);
  std::optional<LayerNorm> norm;
};

/// torch.nn.TransformerDecoder, likewise.
class TransformerDecoder : public Module<TransformerDecoder> {
 public:
  /// Error for a negative number of layers.
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     std::optional<LayerNorm> last_norm = std::nullopt);

  /// tgt (T, N, d_model) and memory (S, N, d_model), or as the layers have them, give tgt's shape.
  /// With a cache, tgt are the tokens after those before:
  ///
  ///     attention::KVCache cache;
  ///     const NoGradGuard no_graph;
  ///     Tensor next = decoder(prompt, memory, {.tgt_is_causal = true, .cache = &cache});
  ///
  /// The errors of the layers; Error for a cache with tokens of another number of layers.
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;
  std::vector<std::pair<std::string, ModuleBase*>> named_children() override;

  TEND_MODULE(ModuleList<TransformerDecoderLayer>, layers);
  std::optional<LayerNorm> norm;
};

/// Sizes of a Transformer, and what its layers have in common.
struct TransformerOptions {
  std::int64_t d_model = 512;
  std::int64_t nhead = 8;
  std::int64_t num_encoder_layers = 6;
  std::int64_t num_decoder_layers = 6;
  TransformerLayerOptions layer = {};
};

/// Which tokens those of a Transformer see, as PyTorch names them.
struct TransformerMasks {
  Tensor src_mask = {};
  Tensor tgt_mask = {};
  Tensor memory_mask = {};
  Tensor src_key_padding_mask = {};
  Tensor tgt_key_padding_mask = {};
  Tensor memory_key_padding_mask = {};
  Flag src_is_causal = false;
  Flag tgt_is_causal = false;
  Flag memory_is_causal = false;
};

/// torch.nn.Transformer: the decoder attends to the results of the encoder. Its weights are drawn
/// by xavier_uniform_, after those of its layers.
class Transformer : public Module<Transformer> {
 public:
  /// Error for negative numbers of layers; the errors of the layers.
  explicit Transformer(const TransformerOptions& options = {});
  /// In PyTorch's order.
  explicit Transformer(std::int64_t d_model, std::int64_t nhead = 8,
                       std::int64_t num_encoder_layers = 6, std::int64_t num_decoder_layers = 6,
                       const TransformerLayerOptions& layer = {})
      : Transformer(
            TransformerOptions{d_model, nhead, num_encoder_layers, num_decoder_layers, layer}) {}

  /// src (S, N, d_model) and tgt (T, N, d_model), or as the layers have them, give tgt's shape.
  /// The errors of the layers.
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}) const;
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}) const;
  /// The floating mask under which no token sees a later one: (size, size), -inf above the diagonal
  /// and 0 elsewhere. is_causal does the same faster.
  static Tensor generate_square_subsequent_mask(std::int64_t size);

  TEND_MODULE(TransformerEncoder, encoder);
  TEND_MODULE(TransformerDecoder, decoder);
};

}  // namespace tend::nn
