// The weights of single heads compute what the model computes.
#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;

namespace {

std::vector<GPTConfig> models_of_weights() {
  GPTConfig plain{.vocab_size = 31,
                  .context_length = 12,
                  .width = 24,
                  .num_heads = 4,
                  .num_layers = 2,
                  .qkv_bias = true};
  GPTConfig gated = plain;
  gated.positions = PositionKind::none;
  gated.num_kv_heads = 2;
  gated.feed_forward = FeedForwardKind::swiglu;
  gated.qkv_bias = false;
  return {plain, gated};
}

bool has_values(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 1e-4, 1e-5);  // float32, summed in another order
}

Tensor plus_bias(const Tensor& x, const Tensor& bias) {
  return bias.defined() ? x + bias : x;
}

}  // namespace

TEST_CASE("the weights of heads and layers reproduce the activations") {
  manual_seed(1);
  for (const GPTConfig& config : models_of_weights()) {
    const GPT model(config);
    const NoGradGuard no_graph;
    const Tensor tokens = randint(0, 31, {2, 9});
    const auto [logits, cache] =
        lens::run_with_cache(model, tokens, {.filter = [](const std::string&) { return true; }});
    CHECK(has_values(cache["hook_embed"], embedding(lens::W_E(model), tokens)));
    if (config.positions == PositionKind::learned)
      CHECK(equal(cache["hook_pos_embed"], lens::W_pos(model).narrow(0, 0, 9)));
    CHECK(has_values(logits, matmul(cache["ln_final.hook_normalized"], lens::W_U(model))));
    for (const std::int64_t layer : {0, 1}) {
      const std::string block = "blocks." + std::to_string(layer) + '.';
      const auto at = [&, &stored = cache](const char* name) { return stored[block + name]; };
      // (batch, 1, position, d_model) @ (head, d_model, d_head)
      const Tensor x = at("ln1.hook_normalized").unsqueeze(1);
      const auto heads = [&](const Tensor& weight, const Tensor& bias) {
        return plus_bias(matmul(x, weight).transpose(1, 2), bias);
      };
      CHECK(has_values(at("attn.hook_q"), heads(lens::W_Q(model, layer), lens::b_Q(model, layer))));
      CHECK(has_values(at("attn.hook_k"), heads(lens::W_K(model, layer), lens::b_K(model, layer))));
      CHECK(has_values(at("attn.hook_v"), heads(lens::W_V(model, layer), lens::b_V(model, layer))));
      const Tensor written =
          matmul(at("attn.hook_z").transpose(1, 2), lens::W_O(model, layer)).transpose(1, 2);
      CHECK(has_values(at("attn.hook_result"), written));
      CHECK(has_values(at("hook_attn_out"), plus_bias(written.sum({2}), lens::b_O(model, layer))));
      const Tensor y = at("ln2.hook_normalized");
      const bool is_gated = lens::W_gate(model, layer).defined();
      CHECK(is_gated == (config.feed_forward == FeedForwardKind::swiglu));
      CHECK(has_values(at(is_gated ? "mlp.hook_pre_linear" : "mlp.hook_pre"),
                       plus_bias(matmul(y, lens::W_in(model, layer)), lens::b_in(model, layer))));
      if (is_gated)
        CHECK(has_values(at("mlp.hook_pre"), plus_bias(matmul(y, lens::W_gate(model, layer)),
                                                       lens::b_gate(model, layer))));
      CHECK(has_values(at("hook_mlp_out"),
                       plus_bias(matmul(at("mlp.hook_post"), lens::W_out(model, layer)),
                                 lens::b_out(model, layer))));
    }
  }
}

TEST_CASE("QK and OV circuits reproduce the scores and outputs of attention") {
  manual_seed(2);
  for (GPTConfig config : models_of_weights()) {
    config.qkv_bias = false;
    const GPT model(config);
    const NoGradGuard no_graph;
    const Tensor tokens = randint(0, 31, {1, 9});
    const auto cache = lens::run_with_cache(model, tokens).cache;
    const Tensor x = cache["blocks.1.ln1.hook_normalized"];  // (1, 9, d_model)
    const Tensor scores = matmul(matmul(x, lens::QK(model, 1)), x.transpose(1, 2)) /
                          std::sqrt(static_cast<double>(config.head_size()));
    const Tensor seen = cache["blocks.1.attn.hook_attn_scores"].squeeze(0);
    const Tensor hidden = seen == -INFINITY;
    CHECK(has_values(masked_fill(scores, hidden, 0), masked_fill(seen, hidden, 0)));
    const Tensor pattern = cache["blocks.1.attn.hook_pattern"].squeeze(0);
    const Tensor written = matmul(matmul(pattern, x), lens::OV(model, 1)).sum({0});
    CHECK(has_values(plus_bias(written, lens::b_O(model, 1)),
                     cache["blocks.1.hook_attn_out"].squeeze(0)));
  }
}

TEST_CASE("writing to the weight of a head changes the model") {
  manual_seed(3);
  const GPT model(models_of_weights()[0]);
  const NoGradGuard no_graph;
  lens::W_O(model, 0).select(0, 2).zero_();
  const Tensor columns = model.blocks[0].attention.out_proj.weight.narrow(1, 12, 6);
  CHECK(all(columns == 0).item<bool>());
  CHECK_THROWS_AS(lens::W_Q(model, 2), IndexError);
}
