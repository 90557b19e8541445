#include "tests/catch.h"

#include <tend/tend.h>

using namespace tend;

namespace {

attention::GPT lora_model() {
  manual_seed(1);
  return attention::GPT({.vocab_size = 11, .context_length = 8, .width = 12, .num_layers = 2});
}

// Trains for two steps, and returns the names of the parameters that changed.
std::vector<std::string> changed_by_training(attention::GPT& model, const Tensor& tokens) {
  std::vector<std::pair<std::string, Tensor>> before;
  for (const auto& [name, parameter] : model.named_parameters()) {
    before.emplace_back(name, parameter.detach().clone());
  }
  optim::SGD sgd(model.parameters(), {.lr = 1.0});
  for (int i = 0; i < 2; ++i) {
    sgd.zero_grad();
    cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward();
    sgd.step();
  }
  std::vector<std::string> changed;
  for (const auto& [name, value] : before) {
    if (!equal(model.get_parameter(name).detach(), value)) changed.push_back(name);
  }
  return changed;
}

}  // namespace

TEST_CASE("LoRA has no effect at first, trains only its own parameters, and can be merged",
          "[products]") {
  attention::GPT model = lora_model();
  const Tensor tokens = randint(0, 11, {2, 6});
  const Tensor plain = model(tokens).detach();
  CHECK(nn::add_lora(model, {"W_query", "blocks.*.W_value"}, {.rank = 2, .alpha = 6}) == 4);
  CHECK(equal(model(tokens).detach(), plain));
  CHECK(model.num_parameters(true) == 4 * 2 * (12 + 12));

  const auto changed = changed_by_training(model, tokens);
  CHECK(changed.size() == 8);
  for (const std::string& name : changed) CHECK(name.find("lora_") != std::string::npos);
  const Tensor trained = model(tokens).detach();
  CHECK_FALSE(allclose(trained, plain, 1e-3, 1e-3));
  const nn::Linear& query = model.blocks[0].attention.W_query;
  CHECK(query.extra_repr() == "in_features=12, out_features=12, bias=False, lora_rank=2");
  const Tensor x = randn({3, 12});
  CHECK(allclose(
      query(x),
      linear(x, query.weight) + matmul(matmul(x, query.lora_A.t()), query.lora_B.t()) * 3.0, 1e-5,
      1e-5));

  // The merged model adds the products in another order, so it rounds differently.
  attention::GPT merged = model.clone();
  nn::merge_lora(merged);
  CHECK(allclose(merged(tokens).detach(), trained, 1e-4, 1e-5));
  CHECK(merged.state_dict().size() == lora_model().state_dict().size());
  nn::remove_lora(model);
  CHECK(equal(model(tokens).detach(), plain));
}

TEST_CASE("LoRA weights are saved and loaded without the other weights", "[products]") {
  attention::GPT model = lora_model();
  const Tensor tokens = randint(0, 11, {2, 6});
  nn::add_lora(model, {"out_proj"});
  changed_by_training(model, tokens);
  const nn::StateDict state = nn::lora_state(model);
  REQUIRE(state.size() == 4);
  CHECK(state.begin()->first == "blocks.0.attention.out_proj.lora_A");

  attention::GPT other = lora_model();
  CHECK_THROWS_AS(nn::load_lora_state(other, state), Error);
  nn::add_lora(other, {"out_proj"});
  nn::load_lora_state(other, state);
  CHECK(equal(other(tokens).detach(), model(tokens).detach()));
  nn::StateDict less = state;
  less.erase("blocks.0.attention.out_proj.lora_A");
  CHECK_THROWS_AS(nn::load_lora_state(other, less), Error);
}

TEST_CASE("LoRA weights are loaded under the names of PEFT's adapters", "[products]") {
  attention::GPT model = lora_model();
  const Tensor tokens = randint(0, 11, {2, 6});
  nn::add_lora(model, {"W_query"});
  changed_by_training(model, tokens);
  nn::StateDict adapter;
  for (const auto& [name, tensor] : nn::lora_state(model)) {
    adapter.emplace_back("base_model.model." + name + ".weight", tensor);
  }
  attention::GPT other = lora_model();
  nn::add_lora(other, {"W_query"});
  nn::load_lora_state(other, adapter);
  CHECK(equal(other(tokens).detach(), model(tokens).detach()));

  nn::StateDict wrong = adapter;
  wrong.emplace_back("base_model.model.head.lora_A.weight", ones({8, 12}));
  CHECK_THROWS_WITH(nn::load_lora_state(other, wrong),
                    Catch::Matchers::ContainsSubstring("head.lora_A"));
  adapter.emplace_back("blocks.0.attention.W_query.lora_A", ones({8, 12}));
  CHECK_THROWS_AS(nn::load_lora_state(other, adapter), Error);  // one parameter under both names
  CHECK(equal(other(tokens).detach(), model(tokens).detach()));
}

TEST_CASE("parameters that LoRA froze are still frozen after a merge or removal", "[products]") {
  for (const auto end : {nn::merge_lora, nn::remove_lora}) {
    attention::GPT model = lora_model();
    nn::add_lora(model, {"W_query"});
    end(model);
    CHECK(model.num_parameters(true) == 0);
    model.requires_grad_(true);
    CHECK(model.num_parameters(true) == model.num_parameters());
  }
}

TEST_CASE("the LoRA parameters of earlier calls are still trained after add_lora") {
  attention::GPT model = lora_model();
  nn::add_lora(model, {"W_query"}, {.rank = 2});
  model.blocks[1].attention.W_query.lora_A.requires_grad_(false);
  nn::add_lora(model, {"down"}, {.rank = 3});
  CHECK(model.blocks[0].attention.W_query.lora_A.requires_grad());
  CHECK(model.blocks[0].attention.W_query.lora_B.requires_grad());
  CHECK_FALSE(model.blocks[1].attention.W_query.lora_A.requires_grad());
  CHECK(model.blocks[0].feed_forward.down.lora_A.requires_grad());
  CHECK_FALSE(model.head.weight.requires_grad());
}

TEST_CASE("LoRA has the layer's dtype and applies dropout to its input in training", "[products]") {
  nn::Linear layer(64, 3);
  layer.to(float64);
  CHECK(nn::add_lora(layer, {"*"}, {.rank = 4, .dropout = 0.5}) == 1);
  CHECK(layer.lora_A.dtype() == float64);
  layer.lora_B.detach().fill_(1.0);
  const Tensor x = randn({2, 64}, float64);
  CHECK_FALSE(equal(layer(x).detach(), layer(x).detach()));
  layer.eval();
  CHECK(equal(layer(x).detach(), layer(x).detach()));
}

TEST_CASE("loading LoRA weights does not write to the weights of the layers") {
  nn::Sequential model{nn::Linear(3, 3)};
  nn::add_lora(model, {"0"}, {.rank = 1});
  const Tensor weight = model.get_parameter("0.weight"), x = ones({1, 3}).requires_grad_();
  const Tensor y = (x * weight).sum();  // The graph saves the weight.
  nn::load_lora_state(model, nn::lora_state(model));
  y.backward();
  CHECK(x.grad().defined());
}

TEST_CASE("add_lora changes nothing if it refuses a pattern or an option") {
  nn::Linear unnamed(2, 2);
  CHECK_THROWS_AS(nn::add_lora(unnamed, {}), Error);
  CHECK(unnamed.weight.requires_grad());
  attention::GPT model = lora_model();
  const std::string before = model.repr();
  CHECK_THROWS_WITH(
      nn::add_lora(model, {"W_query", "W_quary"}),
      Catch::Matchers::ContainsSubstring("[add_lora] 'W_quary' does not name a Linear; the Linear "
                                         "layers are: blocks.0.attention.W_query, "));
  CHECK_THROWS_WITH(nn::add_lora(model, {"W_query"}, {.rank = 0}),
                    "[add_lora] rank must be at least 1, got 0");
  CHECK_THROWS_AS(nn::add_lora(model, {"W_query"}, {.dropout = 2}), Error);
  CHECK_THROWS_AS(nn::add_lora(model, {"W_query"}, {.alpha = std::nan("")}), Error);
  CHECK_THROWS_AS(nn::add_lora(model, {"query"}), Error);
  CHECK_THROWS_AS(nn::add_lora(model, {"*.W_quer"}), Error);
  CHECK(model.repr() == before);
  CHECK(model.num_parameters(true) == model.num_parameters());
  CHECK(nn::add_lora(model, {"blocks.*1.*n.*_query"}) == 1);
  nn::remove_lora(model);
  nn::add_lora(model, {"W_query"});
  CHECK_THROWS_WITH(nn::add_lora(model, {"W_*"}),
                    "[add_lora] 'blocks.0.attention.W_query' has LoRA already");
}
