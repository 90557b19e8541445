// Activations of models, read and replaced by name.
#include <set>

#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t kRunHeads = 4, kRunHeadSize = 8;

GPTConfig run_config(PositionKind positions = PositionKind::learned) {
  return {.vocab_size = 31,
          .context_length = 12,
          .width = kRunHeads * kRunHeadSize,
          .num_heads = kRunHeads,
          .num_layers = 2,
          .positions = positions};
}

GPTConfig run_llama() {
  GPTConfig config = run_config(PositionKind::rotary);
  config.norm = NormKind::rms;
  config.feed_forward = FeedForwardKind::swiglu;
  config.num_kv_heads = 2;
  config.qk_norm = true;
  return config;
}

std::vector<GPTConfig> models_to_run() {
  GPTConfig window = run_config(PositionKind::alibi);
  window.window = 5;
  return {run_config(), run_config(PositionKind::sinusoidal), run_config(PositionKind::none),
          run_llama(), window};
}

Tensor run_tokens() {
  return randint(0, 31, {2, 9});
}

std::set<std::string> cached_names(const lens::ActivationCache& cache) {
  std::set<std::string> names;
  for (const auto& [name, x] : cache) names.insert(name);
  return names;
}

bool is_near(const Tensor& a, const Tensor& b) {
  return allclose(a, b, 1e-4, 1e-5);  // float32, composed instead of fused
}

}  // namespace

TEST_CASE("a cache has TransformerLens's names and shapes") {
  manual_seed(1);
  const GPT model(run_config());
  const NoGradGuard no_graph;
  const auto [logits, cache] = lens::run_with_cache(model, run_tokens());
  std::set<std::string> wanted = {"hook_embed", "hook_pos_embed", "ln_final.hook_scale",
                                  "ln_final.hook_normalized"};
  for (const std::string block : {"blocks.0.", "blocks.1."}) {
    for (const char* part :
         {"hook_resid_pre", "ln1.hook_scale", "ln1.hook_normalized", "attn.hook_q", "attn.hook_k",
          "attn.hook_v", "attn.hook_attn_scores", "attn.hook_pattern", "attn.hook_z",
          "hook_attn_out", "hook_resid_mid", "ln2.hook_scale", "ln2.hook_normalized",
          "mlp.hook_pre", "mlp.hook_post", "hook_mlp_out", "hook_resid_post"}) {
      wanted.insert(block + part);
    }
  }
  CHECK(cached_names(cache) == wanted);
  CHECK(cache["blocks.0.attn.hook_q"].shape() == Shape{2, 9, kRunHeads, kRunHeadSize});
  CHECK(cache["blocks.0.attn.hook_z"].shape() == Shape{2, 9, kRunHeads, kRunHeadSize});
  CHECK(cache["blocks.0.attn.hook_pattern"].shape() == Shape{2, kRunHeads, 9, 9});
  CHECK(cache["blocks.1.ln2.hook_scale"].shape() == Shape{2, 9, 1});
  CHECK(cache["blocks.1.mlp.hook_post"].shape() == Shape{2, 9, 4 * kRunHeads * kRunHeadSize});
}

TEST_CASE("activations of every model satisfy the equations that connect them") {
  manual_seed(2);
  for (const GPTConfig& config : models_to_run()) {
    const GPT model(config);
    const NoGradGuard no_graph;
    const Tensor input = run_tokens();
    const Tensor plain = model(input);
    const auto [logits, cache] =
        lens::run_with_cache(model, input, {.filter = [](const std::string&) { return true; }});
    CHECK(is_near(logits, plain));
    for (const std::string block : {"blocks.0.", "blocks.1."}) {
      CAPTURE(block);
      const auto at = [&, &stored = cache](const char* name) { return stored[block + name]; };
      CHECK(is_near(at("hook_resid_mid"), at("hook_resid_pre") + at("hook_attn_out")));
      CHECK(is_near(at("hook_resid_post"), at("hook_resid_mid") + at("hook_mlp_out")));
      CHECK(is_near(at("attn.hook_pattern"), softmax(at("attn.hook_attn_scores"), -1)));
      const Tensor value = at("attn.hook_v").transpose(1, 2);
      const Tensor shared = repeat_interleave(value, kRunHeads / value.size(1), 1);
      CHECK(is_near(at("attn.hook_z"), matmul(at("attn.hook_pattern"), shared).transpose(1, 2)));
      CHECK(is_near(at("attn.hook_result").sum({-2}) +
                        model.blocks[block == "blocks.0." ? 0 : 1].attention.out_proj.bias,
                    at("hook_attn_out")));
    }
    CHECK(is_near(cache["blocks.0.hook_resid_post"], cache["blocks.1.hook_resid_pre"]));
  }
}

TEST_CASE("a hook that changes nothing keeps all bits of the result") {
  manual_seed(3);
  for (const GPTConfig& config : models_to_run()) {
    const GPT model(config);
    const Tensor input = run_tokens();
    const auto same = [](Tensor x) { return x; };
    const Tensor hooked = lens::run_with_hooks(model, input,
                                               {{"hook_embed", same},
                                                {"blocks.0.attn.hook_z", same},
                                                {"blocks.1.mlp.hook_post", same},
                                                {"blocks.1.attn.hook_q", same},
                                                {"blocks.1.hook_resid_post", same}});
    CHECK(equal(hooked, model(input)));
  }
}

TEST_CASE("silencing a head by a hook equals zeroing its columns of the output weight") {
  manual_seed(4);
  const GPT model(run_config());
  const NoGradGuard no_graph;
  const Tensor input = run_tokens();
  const Tensor without = lens::run_with_hooks(model, input, {{"blocks.0.attn.hook_z", [](Tensor z) {
                                                                z.select(2, 3).zero_();
                                                                return z;
                                                              }}});
  GPT other = model.clone();
  other.blocks[0].attention.out_proj.weight.narrow(1, 3 * kRunHeadSize, kRunHeadSize).zero_();
  CHECK(is_near(without, other(input)));
  CHECK_FALSE(is_near(without, model(input)));
}

TEST_CASE("editing the patterns of chosen heads keeps the bits of the other heads") {
  manual_seed(5);
  for (const GPTConfig& config : models_to_run()) {
    const GPT model(config);
    const NoGradGuard no_graph;
    const Tensor input = run_tokens();
    const auto first_key = [](const Tensor& pattern) {
      Tensor edited = zeros_like(pattern);
      edited.select(-1, 0).fill_(1);
      return edited;
    };
    const auto heads_alone = [&] {
      return lens::run_with_hooks(model, input,
                                  {{"blocks.0.attn.hook_pattern", first_key, {3, 1}}});
    };
    const auto [logits, cache] = lens::run_with_cache(
        heads_alone, {.names = {"blocks.0.attn.hook_z", "blocks.0.attn.hook_v"}});
    const Tensor z = cache["blocks.0.attn.hook_z"], value = cache["blocks.0.attn.hook_v"];
    const std::int64_t group = kRunHeads / value.size(2);
    for (const std::int64_t head : {1, 3}) {
      const Tensor first = value.select(2, head / group).narrow(1, 0, 1);
      CHECK(is_near(z.select(2, head), first.expand({2, 9, kRunHeadSize})));
    }
    const Tensor usual = lens::run_with_cache(model, input, {.names = {"blocks.0.attn.hook_z"}})
                             .cache["blocks.0.attn.hook_z"];
    for (const std::int64_t head : {0, 2}) {
      CHECK(equal(z.select(2, head), usual.select(2, head)));
    }
    const Tensor all_heads = lens::run_with_hooks(
        model, input, {{"blocks.0.attn.hook_pattern", [&](Tensor pattern) {
                          for (const std::int64_t head : {1, 3})
                            pattern.select(1, head).copy_(first_key(pattern.select(1, head)));
                          return pattern;
                        }}});
    CHECK(is_near(logits, all_heads));
  }
}

TEST_CASE("the patterns of chosen heads equal the patterns of a run with all heads") {
  manual_seed(6);
  const GPT model(run_llama());
  const NoGradGuard no_graph;
  const Tensor input = run_tokens();
  const std::string name = "blocks.1.attn.hook_pattern";
  const Tensor all = lens::run_with_cache(model, input, {.names = {name}}).cache[name];
  const Tensor some =
      lens::run_with_cache(model, input, {.names = {name}, .heads = {2, 0}}).cache[name];
  CHECK(is_near(some.select(1, 0), all.select(1, 2)));
  CHECK(is_near(some.select(1, 1), all.select(1, 0)));
}

TEST_CASE("first and second derivatives flow through edits") {
  manual_seed(7);
  GPT model(run_config());
  model.to(float64);
  const Tensor input = randint(0, 31, {1, 4});
  const auto loss = [&](const std::vector<Tensor>& x) {
    const auto scaled = [&](const Tensor& scores) {  // scales the scores that are not hidden
      const Tensor hidden = scores == -INFINITY;
      return masked_fill(masked_fill(scores, hidden, 0) * x[0], hidden, -INFINITY);
    };
    const Tensor logits = lens::run_with_hooks(
        model, input,
        {{"blocks.0.attn.hook_attn_scores", scaled, {2}},
         {"blocks.0.attn.hook_z", [&](const Tensor& z) { return z + x[1]; }},
         {"blocks.1.attn.hook_pattern", [&](const Tensor& p) { return p * x[0]; }, {0, 1}}});
    return std::vector<Tensor>{square(logits).mean()};
  };
  const std::vector<Tensor> inputs = {
      tensor({1.2}, float64).requires_grad_(),
      randn({kRunHeads, kRunHeadSize}, {.dtype = float64}).requires_grad_()};
  CHECK(gradcheck(loss, inputs).passed);
  CHECK(gradgradcheck(loss, inputs).passed);
}

TEST_CASE("a loss has a gradient with respect to cached activations") {
  manual_seed(8);
  const GPT model(run_config());
  const auto [logits, cache] = lens::run_with_cache(model, run_tokens());
  const Tensor z = cache["blocks.0.attn.hook_z"], last = cache["blocks.1.hook_resid_post"];
  const std::vector<Tensor> gradients = autograd::grad(logits.sum(), {z, last});
  CHECK(gradients[0].shape() == z.shape());
  CHECK(abs(gradients[0]).sum().item<double>() > 0);
}

TEST_CASE("names of version 3 and module paths refer to the same activations") {
  CHECK(lens::activation_name("blocks.0.attention.hook_q") == "blocks.0.attn.hook_q");
  CHECK(lens::activation_name("blocks.12.attn.q.hook_out") == "blocks.12.attn.hook_q");
  CHECK(lens::activation_name("blocks.1.hook_in") == "blocks.1.hook_resid_pre");
  CHECK(lens::activation_name("blocks.1.hook_out") == "blocks.1.hook_resid_post");
  CHECK(lens::activation_name("norm.hook_scale") == "ln_final.hook_scale");
  CHECK(lens::activation_name("encoder.norm1.hook_mine") == "encoder.norm1.hook_mine");
}

TEST_CASE("errors list similar names for a wrong name and the number of heads for a wrong head") {
  const GPT model(run_config());
  const Tensor input = run_tokens();
  const auto same = [](Tensor x) { return x; };
  CHECK_THROWS_WITH(lens::run_with_hooks(model, input, {{"blocks.0.attn.hook_x", same}}),
                    ContainsSubstring("no activation blocks.0.attn.hook_x") &&
                        ContainsSubstring("blocks.0.attn.hook_q"));
  CHECK_THROWS_WITH(lens::run_with_cache(model, input, {.names = {"blocks.2.hook_resid_pre"}}),
                    ContainsSubstring("the nearest names are blocks.0.hook_resid_pre"));
  const auto cache = lens::run_with_cache(model, input).cache;
  CHECK_THROWS_AS(cache["hook_embde"], IndexError);
  CHECK_THROWS_WITH(cache["pattern"], ContainsSubstring("blocks.0.attn.hook_pattern"));
  CHECK_THROWS_WITH(lens::run_with_hooks(model, input, {{"blocks.0.attn.hook_pattern", same, {4}}}),
                    ContainsSubstring("no head 4") && ContainsSubstring("there are 4"));
  CHECK_THROWS_AS(
      lens::run_with_hooks(model, input, {{"hook_embed", [](const Tensor& x) { return x.sum(); }}}),
      ShapeError);
}

namespace {

struct HookedNet : nn::Module<HookedNet> {
  HookedNet() : in(3, 5), out(5, 2) {}

  Tensor forward(const Tensor& x) const { return out(hook_hidden(relu(in(x)))); }

  lens::HookPoint hook_hidden{"hook_hidden"};
  TEND_MODULE(nn::Linear, in);
  TEND_MODULE(nn::Linear, out);
};

struct HookedPair : nn::Module<HookedPair> {
  Tensor forward(const Tensor& x) const { return first(x) + second(x); }

  TEND_MODULE(HookedNet, first);
  TEND_MODULE(HookedNet, second);
};

}  // namespace

TEST_CASE("a model's own hook points are named by the path of its modules") {
  manual_seed(9);
  const HookedPair model;
  const Tensor x = randn({4, 3});
  const auto [y, cache] = lens::run_with_cache(model, x);
  CHECK(cached_names(cache) == std::set<std::string>{"first.hook_hidden", "second.hook_hidden"});
  CHECK(cache["first.hook_hidden"].shape() == Shape{4, 5});
  const Tensor silent = lens::run_with_hooks(
      model, x, {{"second.hook_hidden", [](const Tensor& h) { return zeros_like(h); }}});
  CHECK(is_near(silent, model.first(x) + model.second.out.bias));
}

TEST_CASE("a hook that writes in place does not change the position embedding") {
  manual_seed(3);
  const GPT model({.vocab_size = 10, .context_length = 8, .width = 8, .num_heads = 2});
  const Tensor tokens = randint(0, 10, {1, 4});
  const NoGradGuard no_graph;
  const Tensor before = lens::W_pos(model).clone();
  const lens::Hook erase{"hook_pos_embed", [](const Tensor& x) { return x.zero_(); }};
  const Tensor logits = lens::run_with_hooks(model, tokens, {erase});
  CHECK(equal(lens::W_pos(model), before));
  CHECK_FALSE(equal(logits, model(tokens)));
}

// The book is "Build a Large Language Model (From Scratch)".
TEST_CASE("the book's modules and torch.nn's layers have hooks, too") {
  manual_seed(10);
  const NoGradGuard no_graph;
  const Tensor x = randn({2, 6, 16});
  const MultiHeadAttention book(16, 16, 6, 0.0, 2);
  const auto of_book = lens::run_with_cache(book, x);
  CHECK(cached_names(of_book.cache) == std::set<std::string>{"hook_q", "hook_k", "hook_v",
                                                             "hook_attn_scores", "hook_pattern",
                                                             "hook_z"});
  CHECK(is_near(of_book.cache["hook_pattern"], book.with_weights(x).weights));
  nn::TransformerEncoderLayer layer(16, 2, {.batch_first = true});
  layer.eval();
  const auto of_layer = lens::run_with_cache(layer, x);
  CHECK(of_layer.cache["self_attn.hook_pattern"].shape() == Shape{2, 2, 6, 6});
  CHECK(of_layer.cache["self_attn.hook_q"].shape() == Shape{2, 6, 2, 8});
  CHECK(is_near(of_layer.result, layer(x)));
}

TEST_CASE("a cache inside a run with hooks stores the edited activations") {
  manual_seed(11);
  const GPT model(run_config());
  const NoGradGuard no_graph;
  const Tensor input = run_tokens();
  const auto run = [&] {
    return lens::run_with_cache(model, input, {.names = {"blocks.0.hook_resid_pre"}});
  };
  const auto [logits, cache] = lens::run_with_hooks(
      run, {{"blocks.0.hook_resid_pre", [](const Tensor& x) { return x * 2; }}});
  const auto plain = run();
  CHECK(equal(cache["blocks.0.hook_resid_pre"], plain.cache["blocks.0.hook_resid_pre"] * 2));
}

TEST_CASE("dropout drops the same weights with and without hooks on heads") {
  GPTConfig config = run_config();
  config.dropout = 0.3;
  const GPT model(config);
  const Tensor input = run_tokens();
  const auto same = [](Tensor x) { return x; };
  manual_seed(12);
  const Tensor plain = model(input);
  manual_seed(12);
  const Tensor some =
      lens::run_with_hooks(model, input, {{"blocks.0.attn.hook_pattern", same, {1}}});
  manual_seed(12);
  const Tensor all = lens::run_with_hooks(model, input, {{"blocks.0.attn.hook_pattern", same}});
  CHECK(is_near(some, plain));
  CHECK(is_near(all, plain));
}
