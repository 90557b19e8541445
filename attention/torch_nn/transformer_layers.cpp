#include <tend/attention/torch_nn/transformer_layers.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/ops/ops.h>

namespace tend::nn {
namespace {

// Checks all sizes before any weight is initialised, and returns d_model.
std::int64_t checked_model(const char* layer, std::int64_t d_model, std::int64_t nhead,
                           const TransformerLayerOptions& options) {
  if (d_model < 1 || nhead < 1 || d_model % nhead != 0) {
    fail<ShapeError>(layer, "d_model ", d_model, " must be divisible by nhead ", nhead);
  }
  if (options.dim_feedforward < 1) {
    fail<ShapeError>(layer, "dim_feedforward must be at least 1, got ", options.dim_feedforward);
  }
  check_dropout(layer, options.dropout);
  return d_model;
}

MultiheadAttentionOptions attention_of(const TransformerLayerOptions& options) {
  return {.dropout = options.dropout, .bias = options.bias, .batch_first = options.batch_first};
}

LayerNorm norm_of(std::int64_t d_model, const TransformerLayerOptions& options) {
  return LayerNorm(Shape{d_model}, options.layer_norm_eps, true, options.bias);
}

// One part of a layer with its residual sum. With norm_first, f reads the normalised x. Otherwise
// the sum is normalised.
template <class F>
Tensor add_part(const Tensor& x, const LayerNorm& norm, bool norm_first, F f) {
  return norm_first ? x + f(norm(x)) : norm(x + f(x));
}

// The last part of both kinds of layers.
template <class Layer>
Tensor feed_forward(const Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(layer.activation(layer.linear1(x))));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : norm_first(options.norm_first),
      activation(options.activation),
      self_attn(checked_model("TransformerEncoderLayer", d_model, nhead, options), nhead,
                attention_of(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(norm_of(d_model, options)),
      norm2(norm_of(d_model, options)),
      dropout1(options.dropout),
      dropout2(options.dropout) {}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const EncoderMasks& masks) const {
  attention::KVCache::Call call("TransformerEncoderLayer", masks.cache, 1,
                                masks.cache != nullptr ? self_attn.token_count(src) : 0);
  const MultiheadAttentionMasks own{.key_padding_mask = masks.src_key_padding_mask,
                                    .need_weights = false,
                                    .attn_mask = masks.src_mask,
                                    .is_causal = masks.is_causal,
                                    .cache = masks.cache};
  Tensor x = add_part(src, norm1, norm_first, [&](const Tensor& in) {
    return dropout1(self_attn(in, in, in, own).context);
  });
  x = add_part(x, norm2, norm_first,
               [&](const Tensor& in) { return dropout2(feed_forward(*this, in)); });
  call.done();
  return x;
}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const EncoderMasks& masks) const {
  return Module::operator()(src, masks);
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options)
    : norm_first(options.norm_first),
      activation(options.activation),
      self_attn(checked_model("TransformerDecoderLayer", d_model, nhead, options), nhead,
                attention_of(options)),
      multihead_attn(d_model, nhead, attention_of(options)),
      linear1(d_model, options.dim_feedforward, options.bias),
      dropout(options.dropout),
      linear2(options.dim_feedforward, d_model, options.bias),
      norm1(norm_of(d_model, options)),
      norm2(norm_of(d_model, options)),
      norm3(norm_of(d_model, options)),
      dropout1(options.dropout),
      dropout2(options.dropout),
      dropout3(options.dropout) {}

Tensor TransformerDecoderLayer::forward(const Tensor& tgt, const Tensor& memory,
                                        const DecoderMasks& masks) const {
  attention::KVCache::Call call("TransformerDecoderLayer", masks.cache, 1,
                                masks.cache != nullptr ? self_attn.token_count(tgt) : 0);
  const MultiheadAttentionMasks own{.key_padding_mask = masks.tgt_key_padding_mask,
                                    .need_weights = false,
                                    .attn_mask = masks.tgt_mask,
                                    .is_causal = masks.tgt_is_causal,
                                    .cache = masks.cache};
  const MultiheadAttentionMasks across{.key_padding_mask = masks.memory_key_padding_mask,
                                       .need_weights = false,
                                       .attn_mask = masks.memory_mask,
                                       .is_causal = masks.memory_is_causal,
                                       .cache = masks.cache,
                                       .static_kv = masks.cache != nullptr};
  Tensor x = add_part(tgt, norm1, norm_first, [&](const Tensor& in) {
    return dropout1(self_attn(in, in, in, own).context);
  });
  x = add_part(x, norm2, norm_first, [&](const Tensor& in) {
    return dropout2(multihead_attn(in, memory, memory, across).context);
  });
  x = add_part(x, norm3, norm_first,
               [&](const Tensor& in) { return dropout3(feed_forward(*this, in)); });
  call.done();
  return x;
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory,
                                           const DecoderMasks& masks) const {
  return Module::operator()(tgt, memory, masks);
}

}  // namespace tend::nn
