// The residual stream's parts add up to what the model computes.
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

std::vector<GPTConfig> models_of_parts() {
  GPTConfig plain{
      .vocab_size = 31, .context_length = 12, .width = 24, .num_heads = 4, .num_layers = 3};
  GPTConfig rms = plain;
  rms.norm = NormKind::rms;
  rms.positions = PositionKind::rotary;
  rms.out_bias = false;
  return {plain, rms};
}

// The model is float64, so that sums in another order differ by only about 1e-15.
GPT model_of_parts(const GPTConfig& config) {
  GPT model(config);
  model.to(float64);
  // Initially, norms have the weight 1, and biases are 0.
  for (Tensor& each : model.parameters()) each.detach().add_(randn_like(each), 0.1);
  return model;
}

bool adds_up(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 1e-9, 1e-10);
}

}  // namespace

TEST_CASE("parts by layer and by head add up to the residual stream") {
  manual_seed(1);
  for (const GPTConfig& config : models_of_parts()) {
    const GPT model = model_of_parts(config);
    const NoGradGuard no_graph;
    const auto cache = lens::run_with_cache(model, randint(0, 31, {2, 7})).cache;
    for (const std::int64_t layer : {0, 1, 3}) {
      const Tensor wanted = layer < 3 ? cache["blocks." + std::to_string(layer) + ".hook_resid_pre"]
                                      : cache["blocks.2.hook_resid_post"];
      const lens::Parts by_layer = lens::parts_by_layer(model, cache, layer);
      const lens::Parts by_head = lens::parts_by_head(model, cache, layer);
      CHECK(adds_up(by_layer.stack.sum({0}), wanted));
      CHECK(adds_up(by_head.stack.sum({0}), wanted));
      CHECK(by_layer.stack.size(0) == std::ssize(by_layer.labels));
      CHECK(by_head.stack.size(0) == std::ssize(by_head.labels));
      CHECK(adds_up(lens::accumulated_parts(model, cache, layer).stack.select(0, layer), wanted));
    }
    CHECK_THROWS_AS(lens::parts_by_layer(model, cache, 4), IndexError);
  }
}

TEST_CASE("parts are labelled in their order") {
  const GPT model(models_of_parts()[0]);
  const auto cache = lens::run_with_cache(model, randint(0, 31, {1, 3})).cache;
  CHECK(lens::parts_by_layer(model, cache, 1).labels ==
        std::vector<std::string>{"embed", "pos_embed", "0_attn_out", "0_mlp_out"});
  CHECK(lens::parts_by_head(model, cache, 1).labels ==
        std::vector<std::string>{"embed", "pos_embed", "L0H0", "L0H1", "L0H2", "L0H3", "0_mlp_out",
                                 "bias"});
  CHECK(lens::accumulated_parts(model, cache).labels ==
        std::vector<std::string>{"0_pre", "1_pre", "2_pre", "final_post"});
}

TEST_CASE("the logit attributions of all parts and of the norm's bias add up to the logits") {
  manual_seed(2);
  for (const GPTConfig& config : models_of_parts()) {
    const GPT model = model_of_parts(config);
    const NoGradGuard no_graph;
    const Tensor tokens = randint(0, 31, {2, 7});
    const auto run = lens::run_with_cache(model, tokens);
    const Tensor& logits = run.result;
    const lens::ActivationCache& cache = run.cache;
    const lens::Parts parts = lens::parts_by_head(model, cache);
    const Tensor normalized = lens::through_final_norm(model, cache, parts.stack).sum({0});
    const Tensor bias = model.norm.bias;
    CHECK(adds_up(bias.defined() ? normalized + bias : normalized,
                  cache["ln_final.hook_normalized"]));
    const Tensor targets = randint(0, 31, {2, 7}), others = randint(0, 31, {2, 7});
    const auto logits_of = [&](const Tensor& numbers) {
      return gather(logits, 2, numbers.unsqueeze(2)).squeeze(2);
    };
    const auto of_bias = [&](const Tensor& numbers) {
      return bias.defined() ? matmul(embedding(lens::W_U(model).t(), numbers), bias)
                            : zeros(numbers.shape(), float64);
    };
    const Tensor each = lens::logit_attribution(model, cache, parts, targets);
    CHECK(adds_up(each.sum({0}) + of_bias(targets), logits_of(targets)));
    const Tensor differences = lens::logit_attribution(model, cache, parts, targets, others);
    CHECK(adds_up(differences.sum({0}) + of_bias(targets) - of_bias(others),
                  logits_of(targets) - logits_of(others)));
    CHECK_THROWS_AS(lens::logit_attribution(model, cache, parts, targets.select(1, 0)), ShapeError);
  }
}

TEST_CASE("the logit lens begins with the logits of the embeddings and ends with the model's") {
  manual_seed(3);
  const GPT model = model_of_parts(models_of_parts()[0]);
  const NoGradGuard no_graph;
  const Tensor tokens = randint(0, 31, {2, 7});
  const auto [logits, cache] = lens::run_with_cache(model, tokens);
  const Tensor all = lens::logit_lens(model, cache);
  CHECK(all.shape() == Shape{4, 2, 7, 31});
  CHECK(adds_up(all.select(0, 3), logits));
  const Tensor embedded = cache["hook_embed"] + cache["hook_pos_embed"];
  CHECK(adds_up(all.select(0, 0), model.head(model.norm(embedded))));
}

TEST_CASE("the Jacobian lens has the mean derivatives of the final residual stream") {
  manual_seed(4);
  for (const GPTConfig& config : models_of_parts()) {
    const GPT model = model_of_parts(config);
    for (Tensor& each : model.parameters()) each.requires_grad_(false);
    const Tensor tokens = randint(0, 31, {2, 4});
    const Tensor jacobians = lens::residual_jacobians(model, tokens);
    REQUIRE(jacobians.shape() == Shape{4, 24, 24});
    CHECK(equal(jacobians.select(0, 3), eye(24, float64)));

    // For central differences, changes element 5 of the stream before layer 1 at each position.
    const NoGradGuard no_graph;
    const double step = 1e-5;
    const auto end_with = [&](std::int64_t position, double by) {
      const auto move = [&](Tensor x) {
        x.select(1, position).select(1, 5).add_(by);
        return x;
      };
      const lens::Hooks hooks({{"blocks.1.hook_resid_pre", move}});
      return lens::run_with_cache(model, tokens).cache["blocks.2.hook_resid_post"].sum({0, 1});
    };
    Tensor column = zeros({24}, float64);
    for (std::int64_t position = 0; position < 4; ++position)
      column = column + (end_with(position, step) - end_with(position, -step)) / (2 * step);
    // Central differences of numbers of about 10 have errors of about 1e-9.
    CHECK(allclose(jacobians.select(0, 1).select(1, 5), column / 8, 1e-6, 1e-7));

    const auto cache = lens::run_with_cache(model, tokens).cache;
    const Tensor same = eye(24, float64).expand({4, 24, 24});
    CHECK(adds_up(lens::jacobian_lens(model, cache, same), lens::logit_lens(model, cache)));
    CHECK(adds_up(lens::jacobian_lens(model, cache, jacobians)[{3}], model(tokens)));
    const Tensor from_zero = matmul(cache["blocks.0.hook_resid_pre"], jacobians.select(0, 0).t());
    CHECK(adds_up(lens::jacobian_lens(model, cache, jacobians)[{0}],
                  model.head(model.norm(from_zero))));
    CHECK_THROWS_AS(lens::jacobian_lens(model, cache, same.select(0, 0)), ShapeError);
  }
}
