#include <tend/attention/torch_nn/transformer.h>

#include "tests/attention/torch_nn/fixtures.h"

using namespace tend;
using tend::test::pattern;
using tend::test::pattern_mask;

namespace {

// Otherwise a null pointer would be accepted as a name.
static_assert(!std::is_constructible_v<nn::ActivationFunction, std::nullptr_t>);

nn::TransformerLayerOptions options_of(const nlohmann::json& expected) {
  return {.dim_feedforward = expected["dim_feedforward"],
          .dropout = expected["dropout"],
          .activation = expected["activation"].get<std::string>().c_str(),
          .layer_norm_eps = expected["layer_norm_eps"],
          .batch_first = expected["batch_first"].get<bool>(),
          .norm_first = expected["norm_first"].get<bool>(),
          .bias = expected["bias"].get<bool>()};
}

/// The inputs and masks of a stored call.
struct Call {
  Tensor src, tgt;
  bool is_causal;
  Tensor src_padding = {}, tgt_padding = {}, memory_mask = {}, causal_src = {}, causal_tgt = {};
};

Call call_of(const nlohmann::json& expected, DType dtype) {
  constexpr std::int64_t kTarget = 4, kSource = 5, kBatchSize = 3, kWidth = 6;
  const bool batch_first = expected["batch_first"];
  const auto leaf = [&](std::int64_t tokens, int seed) {
    const Shape shape =
        batch_first ? Shape{kBatchSize, tokens, kWidth} : Shape{tokens, kBatchSize, kWidth};
    return pattern(shape, seed, dtype).requires_grad_();
  };
  Call call{.src = leaf(kSource, 0), .tgt = leaf(kTarget, 1), .is_causal = expected["causal"]};
  if (expected["masked"].get<bool>()) {
    call.src_padding = pattern_mask("bool", {kBatchSize, kSource}, dtype);
    call.tgt_padding = pattern_mask("bool", {kBatchSize, kTarget}, dtype);
    call.memory_mask = pattern_mask("float", {kTarget, kSource}, dtype);
  }
  if (call.is_causal) {
    const auto mask = nn::Transformer::generate_square_subsequent_mask;
    call.causal_src = mask(kSource).to(dtype);
    call.causal_tgt = mask(kTarget).to(dtype);
  }
  return call;
}

void check_case(const nlohmann::json& expected, const Call& call, nn::ModuleBase& module,
                const Tensor& output, bool has_target, double tolerance) {
  test::check_relative(output, expected["output"], tolerance);
  (output * pattern(output.shape(), 5, output.dtype())).sum().backward();
  std::vector<std::pair<std::string, Tensor>> inputs{{"src", call.src}};
  if (has_target) inputs.emplace_back("tgt", call.tgt);
  test::check_gradients(expected["gradients"], inputs, module, tolerance);
}

void check_layers(const nlohmann::json& expected, DType dtype) {
  constexpr std::int64_t kWidth = 6, kHeads = 2;
  const nn::TransformerLayerOptions options = options_of(expected);
  const nn::LayerNorm norm(Shape{kWidth}, options.layer_norm_eps, true, options.bias);
  const Call call = call_of(expected, dtype);
  const double tolerance = test::layer_tolerance(dtype);
  const std::string kind = expected["kind"];
  if (kind == "encoder") {
    nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(kWidth, kHeads, options), 2, norm);
    test::fill_with_patterns(encoder, dtype);
    const Tensor output = encoder(call.src, {.src_mask = call.causal_src,
                                             .src_key_padding_mask = call.src_padding,
                                             .is_causal = call.is_causal});
    return check_case(expected, call, encoder, output, false, tolerance);
  }
  if (kind == "decoder") {
    nn::TransformerDecoder decoder(nn::TransformerDecoderLayer(kWidth, kHeads, options), 2, norm);
    test::fill_with_patterns(decoder, dtype);
    const Tensor output = decoder(call.tgt, call.src,
                                  {.tgt_mask = call.causal_tgt,
                                   .memory_mask = call.memory_mask,
                                   .tgt_key_padding_mask = call.tgt_padding,
                                   .memory_key_padding_mask = call.src_padding,
                                   .tgt_is_causal = call.is_causal});
    return check_case(expected, call, decoder, output, true, tolerance);
  }
  nn::Transformer both({.d_model = kWidth,
                        .nhead = kHeads,
                        .num_encoder_layers = 1,
                        .num_decoder_layers = 2,
                        .layer = options});
  test::fill_with_patterns(both, dtype);
  const Tensor output = both(call.src, call.tgt,
                             {.tgt_mask = call.causal_tgt,
                              .memory_mask = call.memory_mask,
                              .src_key_padding_mask = call.src_padding,
                              .tgt_key_padding_mask = call.tgt_padding,
                              .memory_key_padding_mask = call.src_padding,
                              .tgt_is_causal = call.is_causal});
  check_case(expected, call, both, output, true, tolerance);
}

}  // namespace

TEST_CASE("encoder and decoder and Transformer compute the same as torch.nn's") {
  const auto& cases = test::torch_layers().at("layers");
  REQUIRE(cases.size() == 36);
  for (const auto& expected : cases) {
    auto settings = expected;
    for (const char* numbers : {"output", "gradients"}) settings.erase(numbers);
    INFO(settings.dump());
    for (const DType dtype : {float64, float32}) check_layers(expected, dtype);
  }
}

TEST_CASE("the layers of a Transformer initialise torch.nn's parameters under its names") {
  const auto& states = test::torch_layers()["initial"];
  const nn::TransformerLayerOptions small{.dim_feedforward = 3};
  manual_seed(123);
  test::check_state(nn::TransformerEncoderLayer(4, 2, small), states["encoder_layer"]);
  manual_seed(123);
  test::check_state(nn::TransformerDecoderLayer(4, 2, small), states["decoder_layer"]);
  manual_seed(123);
  test::check_state(nn::TransformerEncoder(nn::TransformerEncoderLayer(4, 2, small), 2),
                    states["encoder"]);
  manual_seed(123);
  test::check_state(nn::Transformer({.d_model = 4,
                                     .nhead = 2,
                                     .num_encoder_layers = 1,
                                     .num_decoder_layers = 1,
                                     .layer = small}),
                    states["transformer"]);
}

TEST_CASE("a Transformer without dropout is the same in evaluation and a clone has its own norm") {
  manual_seed(1);
  nn::Transformer module({.d_model = 8,
                          .nhead = 2,
                          .num_encoder_layers = 2,
                          .num_decoder_layers = 1,
                          .layer = {.dim_feedforward = 16, .dropout = 0.0}});
  const Tensor src = randn({5, 3, 8}), tgt = randn({4, 3, 8});
  const Tensor trained = module(src, tgt);
  module.eval();
  CHECK(equal(module(src, tgt), trained));
  const nn::Transformer clone = module.clone();
  CHECK(equal(clone(src, tgt), trained));
  CHECK(clone.parameters().size() == module.parameters().size());
  {
    const NoGradGuard no_graph;
    module.encoder.norm->weight.fill_(3);
  }
  CHECK(equal(clone(src, tgt), trained));
  CHECK_FALSE(equal(module(src, tgt), trained));
  nn::Transformer other({.d_model = 8,
                         .nhead = 2,
                         .num_encoder_layers = 2,
                         .num_decoder_layers = 1,
                         .layer = {.dim_feedforward = 16, .dropout = 0.0}});
  other.load_state_dict(clone.state_dict());
  CHECK(equal(other(src, tgt), trained));
}

TEST_CASE("is_causal of an encoder equals the square mask") {
  manual_seed(2);
  const nn::TransformerEncoder encoder(
      nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16, .dropout = 0.0}), 2);
  const Tensor src = randn({6, 2, 8});
  const Tensor mask = nn::Transformer::generate_square_subsequent_mask(6);
  // The sums are in another order where is_causal skips keys.
  CHECK(allclose(encoder(src, {.is_causal = true}), encoder(src, {.src_mask = mask}), 1e-5, 1e-6));
}

TEST_CASE("any function is an activation and names that PyTorch does not have are refused") {
  manual_seed(3);
  const auto with = [](const nn::ActivationFunction& activation) {
    manual_seed(4);
    return nn::TransformerEncoderLayer(
        4, 2, {.dim_feedforward = 8, .dropout = 0.0, .activation = activation});
  };
  const Tensor x = randn({3, 2, 4});
  CHECK(equal(with([](const Tensor& y) { return relu(y); })(x), with("relu")(x)));
  CHECK_FALSE(equal(with([](const Tensor& y) { return silu(y); })(x), with("relu")(x)));
  CHECK_THROWS_WITH(nn::ActivationFunction(std::function<Tensor(const Tensor&)>())(x),
                    "[ActivationFunction] the function is empty");
  CHECK_THROWS_WITH(with("swish"),
                    "[ActivationFunction] \"swish\" is neither \"relu\" nor \"gelu\"");
}

TEST_CASE("Transformer layers refuse invalid sizes before they draw random numbers") {
  manual_seed(5);
  const Generator before = get_rng_state();
  CHECK_THROWS_WITH(nn::TransformerEncoderLayer(5, 2),
                    "[TransformerEncoderLayer] d_model 5 must be divisible by nhead 2");
  CHECK_THROWS_WITH(nn::TransformerDecoderLayer(4, 2, {.dim_feedforward = 0}),
                    "[TransformerDecoderLayer] dim_feedforward must be at least 1, got 0");
  CHECK_THROWS_AS(nn::TransformerEncoderLayer(0, 2), ShapeError);
  CHECK_THROWS_AS(nn::TransformerEncoderLayer(4, 0), ShapeError);
  CHECK_THROWS_AS(nn::TransformerEncoderLayer(4, 2, {.dropout = -0.5}), Error);
  CHECK_THROWS_AS(nn::TransformerEncoderLayer(4, 2, {.dropout = 1.5}), Error);
  CHECK_THROWS_AS(nn::Transformer({.d_model = 6, .nhead = 4}), ShapeError);
  CHECK_THROWS_WITH(nn::Transformer({.num_decoder_layers = -1}),
                    "[Transformer] numbers of layers must be at least 0, got -1");
  CHECK(get_rng_state() == before);
  CHECK_THROWS_AS(nn::TransformerEncoder(nn::TransformerEncoderLayer(4, 2), -1), Error);
}

TEST_CASE("dropout of a Transformer draws PyTorch's random numbers also with batch_first") {
  // Sums of y_i sin(i + 1), from PyTorch 2.6.
  const auto digest = [](const Tensor& y) {
    return (y.flatten() * sin(arange(1, y.numel() + 1, 1, {.dtype = float32}))).sum().item();
  };
  const auto layer = [](bool batch_first) {
    manual_seed(3);
    return nn::TransformerEncoderLayer(
        8, 2, {.dim_feedforward = 16, .dropout = 0.4, .batch_first = batch_first});
  };
  const auto result = [&](bool batch_first) {
    const nn::TransformerEncoderLayer module = layer(batch_first);
    const Tensor x = randn({5, 3, 8});
    return digest(module(x));
  };
  CHECK(result(true) == Approx(-1.58869).margin(1e-4));
  CHECK(result(false) == Approx(1.01241).margin(1e-4));
}

namespace {

const std::vector<std::vector<std::int64_t>> kSteps = {
    {9}, {4, 1, 1, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};

// The decoder's results for tgt, computed in steps. The steps together have as many tokens as tgt.
Tensor in_steps(const nn::TransformerDecoder& decoder, const Tensor& tgt, const Tensor& memory,
                const std::vector<std::int64_t>& steps, nn::DecoderMasks masks,
                attention::KVCache& cache) {
  const std::int64_t dim = tgt.dim() == 3 && decoder.layers[0].self_attn.batch_first ? 1 : 0;
  const Tensor padding = masks.tgt_key_padding_mask, memory_mask = masks.memory_mask;
  masks.cache = &cache;
  std::vector<Tensor> results;
  for (const std::int64_t count : steps) {
    const std::int64_t begin = cache.length();
    masks.tgt_is_causal = true;
    if (padding.defined()) masks.tgt_key_padding_mask = padding.narrow(-1, 0, begin + count);
    if (memory_mask.defined()) masks.memory_mask = memory_mask.narrow(0, begin, count);
    results.push_back(decoder(tgt.narrow(dim, begin, count), memory, masks));
  }
  return cat(results, dim);
}

}  // namespace

TEST_CASE("a decoder has the same bits step by step as for all tokens at once") {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);  // OpenBLAS does not promise equal bits
  manual_seed(6);
  for (const bool batch_first : {false, true}) {
    for (const bool norm_first : {false, true}) {
      nn::TransformerDecoder decoder(nn::TransformerDecoderLayer(24, 3,
                                                                 {.dim_feedforward = 40,
                                                                  .activation = "gelu",
                                                                  .batch_first = batch_first,
                                                                  .norm_first = norm_first}),
                                     2, nn::LayerNorm(Shape{24}));
      decoder.eval();
      const Tensor tgt = randn(batch_first ? Shape{2, 9, 24} : Shape{9, 2, 24});
      const Tensor memory = randn(batch_first ? Shape{2, 7, 24} : Shape{7, 2, 24});
      const nn::DecoderMasks plain{.tgt_is_causal = true};
      const nn::DecoderMasks masked{.memory_mask = randn({9, 7}),
                                    .tgt_key_padding_mask = randn({2, 9}) > 0.5,
                                    .memory_key_padding_mask = randn({2, 7}) > 0.5,
                                    .tgt_is_causal = true};
      for (const nn::DecoderMasks& masks : {plain, masked}) {
        const Tensor whole = decoder(tgt, memory, masks);
        for (const auto& steps : kSteps) {
          attention::KVCache growing, fixed({.capacity = 9});
          CHECK(equal(in_steps(decoder, tgt, memory, steps, masks, growing), whole));
          CHECK(equal(in_steps(decoder, tgt, memory, steps, masks, fixed), whole));
          CHECK(growing.layers() == 2);
        }
      }
    }
  }
}

TEST_CASE("a decoder works with other memories and reordered sequences and without a batch") {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);
  manual_seed(7);
  nn::TransformerDecoder decoder(nn::TransformerDecoderLayer(8, 2, {.dim_feedforward = 16}), 2);
  decoder.eval();
  const nn::DecoderMasks causal{.tgt_is_causal = true};
  const Tensor tgt = randn({9, 2, 8}), memory = randn({5, 2, 8});
  attention::KVCache cache;
  in_steps(decoder, tgt, memory, {4, 1}, causal, cache);
  // As in beam search: two sequences and their memories are swapped, and one is repeated.
  const Tensor rows = tensor({1, 0, 1});
  cache.reorder(rows);
  const Tensor moved = index_select(tgt, 1, rows), seen = index_select(memory, 1, rows);
  CHECK(equal(in_steps(decoder, moved, seen, {1, 3}, causal, cache),
              decoder(moved, seen, causal).narrow(0, 5, 4)));
  cache.reset();
  const Tensor alone = tgt.select(1, 0), alone_memory = memory.select(1, 1);
  CHECK(equal(in_steps(decoder, alone, alone_memory, kSteps[1], causal, cache),
              decoder(alone, alone_memory, causal)));
  // A layer that is called by itself.
  const nn::TransformerDecoderLayer& layer = decoder.layers[1];
  attention::KVCache own;
  layer(tgt.narrow(0, 0, 8), memory, {.tgt_is_causal = true, .cache = &own});
  CHECK(own.length() == 8);
  CHECK(equal(layer(tgt.narrow(0, 8, 1), memory, {.cache = &own}),
              layer(tgt, memory, causal).narrow(0, 8, 1)));
}

TEST_CASE("a failed call of a decoder leaves the cache unchanged") {
  manual_seed(8);
  nn::TransformerDecoder decoder(nn::TransformerDecoderLayer(8, 2, {.dim_feedforward = 16}), 2);
  decoder.eval();
  const Tensor tgt = randn({5, 2, 8}), memory = randn({4, 2, 8});
  attention::KVCache cache({.capacity = 5});
  CHECK_THROWS_AS(decoder(tgt, memory, {.tgt_is_causal = true, .cache = &cache}), AutogradError);
  const NoGradGuard no_graph;
  const Tensor whole = decoder(tgt, memory, {.tgt_is_causal = true});
  in_steps(decoder, tgt, memory, {3}, {}, cache);
  const Tensor next = tgt.narrow(0, 3, 2);
  CHECK_THROWS_WITH(decoder(tgt, memory, {.tgt_is_causal = true, .cache = &cache}),
                    "[KVCache] 5 tokens after 3 exceed the capacity of 5");
  CHECK_THROWS_WITH(decoder(next, memory, {.cache = &cache}),
                    "[MultiheadAttention] 2 tokens with a cache need is_causal or an attn_mask, "
                    "which hides later tokens (in TransformerDecoder.layers.0.self_attn)");
  CHECK_THROWS_AS(decoder(next, memory.narrow(1, 0, 1), {.tgt_is_causal = true, .cache = &cache}),
                  ShapeError);
  CHECK_THROWS_WITH(
      decoder(next, memory, {.tgt_is_causal = true, .memory_is_causal = true, .cache = &cache}),
      "[MultiheadAttention] is_causal cannot be combined with static_kv: give an attn_mask (in "
      "TransformerDecoder.layers.0.multihead_attn)");
  CHECK_THROWS_AS(decoder(randn({8}), memory, {.cache = &cache}), ShapeError);
  CHECK_THROWS_WITH(decoder.layers[0](next, memory, {.tgt_is_causal = true, .cache = &cache}),
                    "[TransformerDecoderLayer] the cache has tokens of 2 layers, the model has 1");
  const nn::TransformerDecoder three(decoder.layers[0], 3);
  CHECK_THROWS_WITH(three(next, memory, {.tgt_is_causal = true, .cache = &cache}),
                    "[TransformerDecoder] the cache has tokens of 2 layers, the model has 3");
  CHECK(cache.length() == 3);
  CHECK(
      allclose(in_steps(decoder, tgt, memory, {2}, {}, cache), whole.narrow(0, 3, 2), 1e-5, 1e-6));
}

TEST_CASE("a causal encoder with a cache has the same bits as one call") {
  const NoGradGuard no_graph;
  const MatmulPathGuard path(MatmulPath::automatic);
  manual_seed(9);
  nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(24, 3, {.dim_feedforward = 40}), 2);
  encoder.eval();
  const Tensor src = randn({9, 2, 24});
  const Tensor whole = encoder(src, {.is_causal = true});
  for (const auto& steps : kSteps) {
    attention::KVCache cache, own;
    for (const std::int64_t count : steps) {
      const std::int64_t begin = cache.length();
      const Tensor next = src.narrow(0, begin, count);
      CHECK(equal(encoder(next, {.is_causal = true, .cache = &cache}),
                  whole.narrow(0, begin, count)));
      encoder.layers[0](next, {.is_causal = true, .cache = &own});
    }
    CHECK(cache.length() == 9);
    CHECK(own.layers() == 1);
    CHECK_THROWS_WITH(encoder(src, {.is_causal = true, .cache = &own}),
                      "[TransformerEncoder] the cache has tokens of 1 layers, the model has 2");
  }
}
