#include <tend/attention/torch_nn/transformer.h>

#include <limits>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/layers/init.h>

namespace tend::nn {
namespace {

using Children = std::vector<std::pair<std::string, ModuleBase*>>;

Children with_norm(Children children, std::optional<LayerNorm>& norm) {
  if (norm) children.emplace_back("norm", &*norm);
  return children;
}

// Checks the numbers of layers before any weight is initialised, and returns d_model.
std::int64_t checked_d_model(const TransformerOptions& options) {
  for (const std::int64_t count : {options.num_encoder_layers, options.num_decoder_layers}) {
    if (count < 0) fail("Transformer", "numbers of layers must be at least 0, got ", count);
  }
  return options.d_model;
}

std::optional<LayerNorm> last_norm_of(const TransformerOptions& options) {
  return LayerNorm(Shape{options.d_model}, options.layer.layer_norm_eps, true, options.layer.bias);
}

// Begins a call of all layers with a cache, which may be nullptr.
template <class Layers>
attention::KVCache::Call call_with(attention::KVCache* cache, const char* module,
                                   const Layers& layers, const Tensor& x) {
  const bool has_tokens = cache != nullptr && layers.size() > 0;
  return {module, has_tokens ? cache : nullptr, std::ssize(layers),
          has_tokens ? layers[0].self_attn.token_count(x) : 0};
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer& layer,
                                       std::int64_t num_layers, std::optional<LayerNorm> last_norm)
    : layers(num_layers, layer), norm(std::move(last_norm)) {}

Tensor TransformerEncoder::forward(const Tensor& src, const EncoderMasks& masks) const {
  auto call = call_with(masks.cache, "TransformerEncoder", layers, src);
  Tensor x = src;
  for (const TransformerEncoderLayer& layer : layers) x = layer(x, masks);
  if (norm) x = (*norm)(x);
  call.done();
  return x;
}

Tensor TransformerEncoder::operator()(const Tensor& src, const EncoderMasks& masks) const {
  return Module::operator()(src, masks);
}

Children TransformerEncoder::named_children() {
  return with_norm(Module::named_children(), norm);
}

TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer& layer,
                                       std::int64_t num_layers, std::optional<LayerNorm> last_norm)
    : layers(num_layers, layer), norm(std::move(last_norm)) {}

Tensor TransformerDecoder::forward(const Tensor& tgt, const Tensor& memory,
                                   const DecoderMasks& masks) const {
  auto call = call_with(masks.cache, "TransformerDecoder", layers, tgt);
  Tensor x = tgt;
  for (const TransformerDecoderLayer& layer : layers) x = layer(x, memory, masks);
  if (norm) x = (*norm)(x);
  call.done();
  return x;
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory,
                                      const DecoderMasks& masks) const {
  return Module::operator()(tgt, memory, masks);
}

Children TransformerDecoder::named_children() {
  return with_norm(Module::named_children(), norm);
}

Transformer::Transformer(const TransformerOptions& options)
    : encoder(TransformerEncoderLayer(checked_d_model(options), options.nhead, options.layer),
              options.num_encoder_layers, last_norm_of(options)),
      decoder(TransformerDecoderLayer(options.d_model, options.nhead, options.layer),
              options.num_decoder_layers, last_norm_of(options)) {
  for (const Tensor& each : parameters()) {
    if (each.dim() > 1) init::xavier_uniform_(each);
  }
}

Tensor Transformer::forward(const Tensor& src, const Tensor& tgt,
                            const TransformerMasks& masks) const {
  const Tensor memory = encoder(src, {.src_mask = masks.src_mask,
                                      .src_key_padding_mask = masks.src_key_padding_mask,
                                      .is_causal = masks.src_is_causal});
  return decoder(tgt, memory,
                 {.tgt_mask = masks.tgt_mask,
                  .memory_mask = masks.memory_mask,
                  .tgt_key_padding_mask = masks.tgt_key_padding_mask,
                  .memory_key_padding_mask = masks.memory_key_padding_mask,
                  .tgt_is_causal = masks.tgt_is_causal,
                  .memory_is_causal = masks.memory_is_causal});
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt,
                               const TransformerMasks& masks) const {
  return Module::operator()(src, tgt, masks);
}

Tensor Transformer::generate_square_subsequent_mask(std::int64_t size) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity()), 1);
}

}  // namespace tend::nn
