// torch.nn's attention and Transformer.
#include <algorithm>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// Usually a size that fits, else any, but none whose weights take long to draw.
std::int64_t draw_size(Arguments& a, std::int64_t usual) {
  return a.draws().chance(0.8) ? usual : std::min<std::int64_t>(a.integer(), 64);
}

nn::MultiheadAttentionOptions draw_multihead_options(Arguments& a) {
  nn::MultiheadAttentionOptions options;
  options.dropout = a.draws().chance(0.7) ? 0.0 : a.real();
  options.bias = a.flag();
  options.add_bias_kv = a.flag();
  options.add_zero_attn = a.flag();
  if (a.draws().chance(0.3)) options.kdim = draw_size(a, 3);
  if (a.draws().chance(0.3)) options.vdim = draw_size(a, 5);
  options.batch_first = a.flag();
  return options;
}

nn::TransformerLayerOptions draw_layer_options(Arguments& a) {
  nn::TransformerLayerOptions options;
  options.dim_feedforward = draw_size(a, 5);
  options.dropout = a.draws().chance(0.7) ? 0.0 : a.real();
  options.activation = a.choice<const char*>({"relu", "gelu"});
  options.layer_norm_eps = a.real();
  options.batch_first = a.flag();
  options.norm_first = a.flag();
  options.bias = a.flag();
  return options;
}

// Undefined half of the time, else often fitting.
Tensor draw_mask(Arguments& a, const Shape& shape) {
  if (a.draws().chance(0.5)) return {};
  return a.draws().chance(0.8) ? a.tensor(zeros(shape, boolean)) : a.tensor();
}

Tensor draw_input(Arguments& a, const Shape& usual) {
  return a.draws().chance(0.8) ? a.tensor(ones(usual).requires_grad_()) : a.tensor();
}

std::vector<PublicFunction> forwards() {
  return {
      by_hand("nn::MultiheadAttention::forward(const Tensor&, const Tensor&, const Tensor&, const "
              "MultiheadAttentionMasks&)",
              [](Arguments& a) {
                const Tensor q = draw_input(a, {3, 2, 4}), k = draw_input(a, {5, 2, 4}),
                             v = draw_input(a, {5, 2, 4});
                const nn::MultiheadAttention module(4, 2, {.add_bias_kv = a.flag()});
                const nn::MultiheadAttentionMasks masks{.key_padding_mask = draw_mask(a, {2, 5}),
                                                        .need_weights = a.flag(),
                                                        .attn_mask = draw_mask(a, {3, 5}),
                                                        .average_attn_weights = a.flag(),
                                                        .is_causal = a.flag()};
                return DrawnCall([=]() -> Tensors {
                  const auto out = module(q, k, v, masks);
                  if (!out.weights.defined()) return {out.context};
                  return {out.context, out.weights};
                });
              }),
      by_hand("nn::TransformerEncoderLayer::forward(const Tensor&, const EncoderMasks&)",
              [](Arguments& a) {
                const Tensor x = draw_input(a, {3, 2, 4});
                const nn::TransformerEncoderLayer module(4, 2, {.dim_feedforward = 5});
                const nn::EncoderMasks masks{draw_mask(a, {3, 3}), draw_mask(a, {2, 3}), a.flag()};
                return DrawnCall([=]() -> Tensors { return {module(x, masks)}; });
              }),
      by_hand("nn::TransformerEncoder::forward(const Tensor&, const EncoderMasks&)",
              [](Arguments& a) {
                const Tensor x = draw_input(a, {3, 2, 4});
                const nn::TransformerEncoder module(
                    nn::TransformerEncoderLayer(4, 2, {.dim_feedforward = 5}), 2);
                const nn::EncoderMasks masks{draw_mask(a, {3, 3}), draw_mask(a, {2, 3}), a.flag()};
                return DrawnCall([=]() -> Tensors { return {module(x, masks)}; });
              }),
      by_hand("nn::TransformerDecoderLayer::forward(const Tensor&, const Tensor&, const "
              "DecoderMasks&)",
              [](Arguments& a) {
                const Tensor x = draw_input(a, {3, 2, 4}), memory = draw_input(a, {5, 2, 4});
                const nn::TransformerDecoderLayer module(4, 2, {.dim_feedforward = 5});
                const nn::DecoderMasks masks{draw_mask(a, {3, 3}),
                                             draw_mask(a, {3, 5}),
                                             draw_mask(a, {2, 3}),
                                             draw_mask(a, {2, 5}),
                                             a.flag(),
                                             a.flag()};
                return DrawnCall([=]() -> Tensors { return {module(x, memory, masks)}; });
              }),
      by_hand("nn::TransformerDecoder::forward(const Tensor&, const Tensor&, const DecoderMasks&)",
              [](Arguments& a) {
                const Tensor x = draw_input(a, {3, 2, 4}), memory = draw_input(a, {5, 2, 4});
                const nn::TransformerDecoder module(
                    nn::TransformerDecoderLayer(4, 2, {.dim_feedforward = 5}), 1);
                return DrawnCall([=]() -> Tensors { return {module(x, memory)}; });
              }),
      by_hand("nn::Transformer::forward(const Tensor&, const Tensor&, const TransformerMasks&)",
              [](Arguments& a) {
                const Tensor src = draw_input(a, {5, 2, 4}), tgt = draw_input(a, {3, 2, 4});
                nn::TransformerOptions options{4, 2, 1, 1, {}};
                options.layer.dim_feedforward = 5;
                const nn::Transformer module(options);
                const nn::TransformerMasks masks{.src_mask = draw_mask(a, {5, 5}),
                                                 .tgt_mask = draw_mask(a, {3, 3}),
                                                 .memory_mask = draw_mask(a, {3, 5}),
                                                 .src_key_padding_mask = draw_mask(a, {2, 5}),
                                                 .tgt_is_causal = a.flag()};
                return DrawnCall([=]() -> Tensors { return {module(src, tgt, masks)}; });
              }),
  };
}

std::vector<PublicFunction> constructors_of_transformers() {
  return {
      by_hand("nn::MultiheadAttention::MultiheadAttention(std::int64_t, std::int64_t, const "
              "MultiheadAttentionOptions&)",
              [](Arguments& a) {
                const std::int64_t width = draw_size(a, 4), heads = draw_size(a, 2);
                const auto options = draw_multihead_options(a);
                return DrawnCall(
                    [=] { return nn::MultiheadAttention(width, heads, options).parameters(); });
              }),
      by_hand("nn::TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t, std::int64_t, "
              "const TransformerLayerOptions&)",
              [](Arguments& a) {
                const std::int64_t width = draw_size(a, 4), heads = draw_size(a, 2);
                const auto options = draw_layer_options(a);
                return DrawnCall([=] {
                  return nn::TransformerEncoderLayer(width, heads, options).parameters();
                });
              }),
      by_hand("nn::TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t, std::int64_t, "
              "const TransformerLayerOptions&)",
              [](Arguments& a) {
                const std::int64_t width = draw_size(a, 4), heads = draw_size(a, 2);
                const auto options = draw_layer_options(a);
                return DrawnCall([=] {
                  return nn::TransformerDecoderLayer(width, heads, options).parameters();
                });
              }),
      by_hand(
          "nn::TransformerEncoder::TransformerEncoder(const TransformerEncoderLayer&, "
          "std::int64_t, std::optional<LayerNorm>)",
          [](Arguments& a) {
            const std::int64_t layers = draw_size(a, 2);
            const nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 5});
            return DrawnCall([=] {
              return nn::TransformerEncoder(layer, layers, nn::LayerNorm(Shape{4})).parameters();
            });
          }),
      by_hand("nn::TransformerDecoder::TransformerDecoder(const TransformerDecoderLayer&, "
              "std::int64_t, std::optional<LayerNorm>)",
              [](Arguments& a) {
                const std::int64_t layers = draw_size(a, 2);
                const nn::TransformerDecoderLayer layer(4, 2, {.dim_feedforward = 5});
                return DrawnCall(
                    [=] { return nn::TransformerDecoder(layer, layers).parameters(); });
              }),
      by_hand("nn::Transformer::Transformer(const TransformerOptions&)",
              [](Arguments& a) {
                nn::TransformerOptions options{draw_size(a, 4), draw_size(a, 2), draw_size(a, 1),
                                               draw_size(a, 1), draw_layer_options(a)};
                return DrawnCall([=] { return nn::Transformer(options).parameters(); });
              }),
      by_hand(
          "nn::Transformer::Transformer(std::int64_t, std::int64_t, std::int64_t, std::int64_t, "
          "const TransformerLayerOptions&)",
          [](Arguments& a) {
            const std::int64_t width = draw_size(a, 4), heads = draw_size(a, 2);
            const std::int64_t encoders = draw_size(a, 1), decoders = draw_size(a, 1);
            const nn::TransformerLayerOptions options = draw_layer_options(a);
            return DrawnCall([=] {
              return nn::Transformer(width, heads, encoders, decoders, options).parameters();
            });
          }),
      TEND_FUNCTION(nn::Transformer::generate_square_subsequent_mask, std::int64_t),
      by_hand("nn::ActivationFunction::ActivationFunction(const char*)",
              [](Arguments& a) {
                const auto name = a.choice<const char*>({"relu", "gelu", "", "tanh"});
                return DrawnCall(
                    [=]() -> Tensors { return {nn::ActivationFunction(name)(ones({2}))}; });
              }),
      by_hand("nn::ActivationFunction::ActivationFunction(std::string_view)",
              [](Arguments& a) {
                const std::string name = a.choice<const char*>({"relu", "gelu", "", "tanh"});
                return DrawnCall([=]() -> Tensors {
                  return {nn::ActivationFunction(std::string_view(name))(ones({2}))};
                });
              }),
      by_hand("nn::ActivationFunction::operator()(const Tensor&)",
              [](Arguments& a) {
                return DrawnCall(
                    [x = a.tensor()]() -> Tensors { return {nn::ActivationFunction("gelu")(x)}; });
              }),
  };
}

}  // namespace

std::vector<PublicFunction> transformer_functions() {
  std::vector<PublicFunction> all = forwards();
  const auto more = constructors_of_transformers();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace tend::test
