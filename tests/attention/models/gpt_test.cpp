#include <cmath>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

std::vector<GPTConfig> models_of_all_parts() {
  GPTConfig modern{
      .vocab_size = 7, .context_length = 6, .width = 8, .num_heads = 2, .num_layers = 2};
  modern.norm = NormKind::rms;
  modern.feed_forward = FeedForwardKind::swiglu;
  modern.num_kv_heads = 1;
  modern.qk_norm = true;
  modern.tied_head = true;
  modern.out_bias = modern.feed_forward_bias = false;
  std::vector<GPTConfig> all;
  for (const PositionKind positions :
       {PositionKind::learned, PositionKind::sinusoidal, PositionKind::rotary, PositionKind::alibi,
        PositionKind::none}) {
    modern.positions = positions;
    modern.window = {};
    all.push_back(modern);
    modern.window = 3;
    all.push_back(modern);
  }
  return all;
}

}  // namespace

TEST_CASE("gradients of a GPT of any parts agree with central differences") {
  for (const GPTConfig& config : models_of_all_parts()) {
    manual_seed(1);
    GPT model(config);
    model.to(float64);
    const Tensor tokens = randint(0, 7, {2, 6});
    std::vector<Tensor> inputs;
    for (const auto& [name, parameter] : model.named_parameters()) {
      if (name.starts_with("blocks.1") || !name.starts_with("blocks")) inputs.push_back(parameter);
    }
    // The function reads the parameters themselves.
    const auto logits = [&](const std::vector<Tensor>&) { return model(tokens); };
    const GradcheckReport report = gradcheck(logits, inputs);
    INFO(report.message);
    CHECK(report.passed);
  }
}

TEST_CASE("a tied head is the token embedding also in a clone and in another dtype") {
  GPTConfig config{.vocab_size = 7, .context_length = 6, .width = 8, .tied_head = true};
  GPT model(config);
  CHECK(model.num_parameters() ==
        GPT({.vocab_size = 7, .context_length = 6, .width = 8}).num_parameters() - 7 * 8);
  GPT copy = model.clone();
  copy.to(float64);
  CHECK(copy.head.weight.data_ptr<double>() == copy.token_embedding.weight.data_ptr<double>());
  CHECK(model.head.weight.dtype() == float32);
}

TEST_CASE("a state with two different tensors for a tied head is refused and changes nothing") {
  GPT model({.vocab_size = 7, .context_length = 6, .width = 8, .tied_head = true});
  const Tensor before = model.token_embedding.weight.detach().clone();
  nn::StateDict state = GPT(model.config).state_dict();
  const Tensor embedding = state.at("token_embedding.weight").clone();
  state["head.weight"] = embedding + 1;
  for (const bool strict : {true, false}) {
    CHECK_THROWS_WITH(
        model.load_state_dict(state, strict),
        Catch::Matchers::EndsWith("cannot load this state:\n  keys token_embedding.weight and "
                                  "head.weight name one tensor of the module, so their elements "
                                  "must be equal"));
  }
  CHECK(equal(model.token_embedding.weight.detach(), before));
  // Both entries may have the same elements, even NaN. Or one of the two entries may be missing.
  embedding[{0, 0}].fill_(std::nan(""));
  state["token_embedding.weight"] = embedding;
  state["head.weight"] = embedding.t().contiguous().t();
  model.load_state_dict(state);
  CHECK(equal(model.head.weight.detach()[{1}], embedding[{1}]));
  state.erase("token_embedding.weight");
  state["head.weight"] = embedding + 1;
  model.load_state_dict(state, /*strict=*/false);
  CHECK(equal(model.token_embedding.weight.detach()[{1}], embedding[{1}] + 1));
}

TEST_CASE("attention and embeddings may have their own dropout") {
  const Tensor tokens = zeros({2, 6}, int64);
  GPTConfig config{.vocab_size = 7, .context_length = 6, .width = 8, .dropout = 0.5};
  config.attention_dropout = config.embedding_dropout = 0.0;
  const GPT blocks_only(config);
  CHECK(blocks_only.dropout.p == 0.0);
  CHECK(blocks_only.blocks[0].attention.dropout.p == 0.0);
  CHECK(blocks_only.blocks[0].dropout.p == 0.5);
  config.dropout = 0;
  const auto draws = [&](const GPTConfig& each) {
    const GPT model(each);
    return !equal(model(tokens).detach(), model(tokens).detach());
  };
  CHECK_FALSE(draws(config));
  config.attention_dropout = 0.5;
  CHECK(draws(config));
  config.attention_dropout = {};
  CHECK_FALSE(draws(config));
  config.embedding_dropout = 0.5;
  CHECK(draws(config));
  config.embedding_dropout = 1.5;
  CHECK_THROWS_WITH(GPT(config), "[GPT] the probability of dropout is 1.5, not in [0, 1]");
  config.embedding_dropout = {};
  config.attention_dropout = std::nan("");
  CHECK_THROWS_AS(GPT(config), Error);
}

TEST_CASE("a model refuses a cache that drops tokens inside its window") {
  const auto message_for = [](std::optional<std::int64_t> model_window, std::int64_t window) {
    const GPT model({.vocab_size = 7,
                     .context_length = 6,
                     .width = 8,
                     .num_layers = 1,
                     .positions = PositionKind::rotary,
                     .window = model_window});
    KVCache cache({.window = window});
    const NoGradGuard no_graph;
    try {
      model(zeros({1, 2}, int64), {.cache = &cache});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message_for({}, 3) ==
        "[GPT] the cache stores only the last 3 tokens, but the model sees all");
  CHECK(message_for(4, 3) == "[GPT] the cache stores only the last 3 tokens, but the model sees 4");
  CHECK(message_for(3, 3).empty());
  CHECK(message_for(2, 3).empty());
}

TEST_CASE("the weights of a GPT with a window are zero outside of the window") {
  GPTConfig config{.vocab_size = 7, .context_length = 9, .width = 8, .num_layers = 1};
  config.window = 3;
  const GPT model(config);
  const GPTOutput out = model.with_weights(randint(0, 7, {2, 9}));
  const Tensor distance = arange(9).unsqueeze(1) - arange(9).unsqueeze(0);
  const Tensor visible = logical_and(distance >= 0, distance < 3);
  CHECK(equal(out.weights[0].detach() > 0, visible.expand({2, 4, 9, 9})));
}

TEST_CASE("a configuration without heads has no head size") {
  GPTConfig config;
  config.num_heads = 0;
  CHECK_THROWS_AS(config.head_size(), ShapeError);
  config.head_dim = 3;
  CHECK(config.head_size() == 3);
}

TEST_CASE("a GPT with attention only and without norms is a sum of what its heads write") {
  const GPTConfig config{.vocab_size = 11,
                         .context_length = 6,
                         .width = 8,
                         .num_heads = 2,
                         .num_layers = 2,
                         .norm = NormKind::none,
                         .feed_forward = FeedForwardKind::none,
                         .out_bias = false};
  manual_seed(2);
  const GPT model(config);
  // Each layer has four matrices; the others are the embeddings and the head.
  CHECK(model.num_parameters() == 2 * 4 * 8 * 8 + (11 + 6 + 11) * 8);
  const Tensor tokens = randint(0, 11, {3, 5});
  Tensor x = model.token_embedding(tokens) + model.position_embedding.weight.narrow(0, 0, 5);
  for (const TransformerBlock& block : model.blocks) x = x + block.attention(x);
  CHECK(equal(model(tokens), model.head(x)));

  // The lens accepts models without these parts, and they are saved and loaded like any other.
  const auto cache = lens::run_with_cache(model, tokens).cache;
  CHECK_FALSE(cache.contains("blocks.0.hook_mlp_out"));
  CHECK(allclose(lens::parts_by_head(model, cache).stack.sum({0}), x, 1e-5, 1e-6));
  CHECK(allclose(lens::logit_lens(model, cache).select(0, 2), model(tokens), 1e-5, 1e-6));
  CHECK(allclose(lens::fold_norms(model)(tokens), model(tokens), 1e-5, 1e-6));
  CHECK_THROWS_AS(lens::W_in(model, 0), Error);
  GPT other(config);
  other.load_state_dict(model.state_dict());
  CHECK(equal(other(tokens), model(tokens)));
  KVCache kv;
  const NoGradGuard no_graph;
  const Tensor first = model(tokens.narrow(1, 0, 3), {.cache = &kv});
  const Tensor rest = model(tokens.narrow(1, 3, 2), {.cache = &kv});
  CHECK(allclose(cat({first, rest}, 1), model(tokens), 1e-5, 1e-6));
}
