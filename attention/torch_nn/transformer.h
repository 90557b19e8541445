// torch.nn's Transformer, and its encoder and decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tend/attention/torch_nn/transformer_layers.h>
#include <tend/nn/module/module_list.h>

namespace tend::nn {

/// torch.nn.TransformerEncoder: `num_layers` copies of a layer, which start with its weights, and
/// then a norm, if one is given.
class TransformerEncoder : public Module<TransformerEncoder> {
 public:
  /// Throws: Error - the number of layers is negative
  TransformerEncoder(const TransformerEncoderLayer& layer, std::int64_t num_layers,
                     std::optional<LayerNorm> last_norm = std::nullopt);

  /// src is (S, N, d_model), or has another shape that the layers accept. The result has the same
  /// shape. Errors of the layers pass through.
  ///
  /// Throws: Error - the cache has tokens of another number of layers
  Tensor forward(const Tensor& src, const EncoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}) const;
  std::vector<std::pair<std::string, ModuleBase*>> named_children() override;

  TEND_MODULE(ModuleList<TransformerEncoderLayer>, layers);
  std::optional<LayerNorm> norm;
};

/// torch.nn.TransformerDecoder: `num_layers` copies of a layer, which start with its weights, and
/// then a norm, if one is given.
class TransformerDecoder : public Module<TransformerDecoder> {
 public:
  /// Throws: Error - the number of layers is negative
  TransformerDecoder(const TransformerDecoderLayer& layer, std::int64_t num_layers,
                     std::optional<LayerNorm> last_norm = std::nullopt);

  /// tgt is (T, N, d_model) and memory (S, N, d_model), or they have other shapes that the layers
  /// accept. The result has tgt's shape. With a cache, tgt are the tokens after the cached ones:
  ///
  ///     attention::KVCache cache;
  ///     const NoGradGuard no_graph;
  ///     Tensor next = decoder(prompt, memory, {.tgt_is_causal = true, .cache = &cache});
  ///
  /// Errors of the layers pass through.
  ///
  /// Throws: Error - the cache has tokens of another number of layers
  Tensor forward(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;
  std::vector<std::pair<std::string, ModuleBase*>> named_children() override;

  TEND_MODULE(ModuleList<TransformerDecoderLayer>, layers);
  std::optional<LayerNorm> norm;
};

/// The sizes of a Transformer, and the options of its layers.
struct TransformerOptions {
  std::int64_t d_model = 512;
  std::int64_t nhead = 8;
  std::int64_t num_encoder_layers = 6;
  std::int64_t num_decoder_layers = 6;
  TransformerLayerOptions layer = {};
};

/// Which tokens the tokens of a Transformer see, with PyTorch's names. In bool masks true means
/// hidden; see MultiheadAttentionMasks.
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

/// torch.nn.Transformer: a decoder that attends to the results of an encoder. After its layers were
/// created, xavier_uniform_ initialises all their matrices again.
class Transformer : public Module<Transformer> {
 public:
  /// Errors of the layers pass through.
  ///
  /// Throws: Error - a number of layers is negative
  explicit Transformer(const TransformerOptions& options = {});
  /// With the arguments in PyTorch's order.
  explicit Transformer(std::int64_t d_model, std::int64_t nhead = 8,
                       std::int64_t num_encoder_layers = 6, std::int64_t num_decoder_layers = 6,
                       const TransformerLayerOptions& layer = {})
      : Transformer(
            TransformerOptions{d_model, nhead, num_encoder_layers, num_decoder_layers, layer}) {}

  /// src is (S, N, d_model) and tgt (T, N, d_model), or they have other shapes that the layers
  /// accept. The result has tgt's shape. Errors of the layers pass through.
  Tensor forward(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}) const;
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {}) const;
  /// The floating causal mask (size, size): -inf above the diagonal, which hides later tokens, and
  /// 0 elsewhere. The is_causal flags have the same effect, and are faster.
  static Tensor generate_square_subsequent_mask(std::int64_t size);

  TEND_MODULE(TransformerEncoder, encoder);
  TEND_MODULE(TransformerDecoder, decoder);
};

}  // namespace tend::nn
