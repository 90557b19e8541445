// tests/data/models.json: GPT-2 and Llama as PyTorch computes them (tests/data/make_models.py).
#include <fstream>
#include <string>

#include "tests/attention/layers/fixtures.h"
#include "tests/catch.h"

#include <nlohmann/json.hpp>

using namespace tend;
using namespace tend::test;
using namespace tend::attention;

namespace {

const nlohmann::json& torch_models() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/models.json"));
  return data;
}

bool is_gpt2(const nlohmann::json& each) {
  return each["config"]["model_type"] == "gpt2";
}

GPTConfig config_of(const nlohmann::json& each) {
  const std::string text = each["config"].dump();
  GPTConfig config = is_gpt2(each) ? GPT2::config(text) : Llama::config(text);
  config.dropout = 0;
  return config;
}

// The file's tensors, as make_models.py fills them.
nn::StateDict tensors_of(const nlohmann::json& each, DType dtype) {
  nn::StateDict tensors;
  int seed = 10;
  for (const auto& entry : each["tensors"]) {
    const auto name = entry[0].get<std::string>();
    Tensor value = pattern(Shape(entry[1].get<std::vector<std::int64_t>>()), seed++, float64, 0.25);
    const bool norm = name.ends_with("weight") && (name.find("norm") != std::string::npos ||
                                                   name.find("ln_") != std::string::npos);
    tensors.emplace_back(name, (norm ? value + 1 : value).to(dtype));
  }
  return tensors;
}

nn::StateDict imported(const nlohmann::json& each, const nn::StateDict& tensors,
                       const GPTConfig& config) {
  return is_gpt2(each) ? GPT2::import_state(tensors, config) : Llama::import_state(tensors, config);
}

nn::StateDict exported(const nlohmann::json& each, const nn::StateDict& state,
                       const GPTConfig& config) {
  return is_gpt2(each) ? GPT2::export_state(state, config) : Llama::export_state(state, config);
}

GPT model_of(const nlohmann::json& each, DType dtype) {
  GPT model(config_of(each));
  model.to(dtype);
  model.load_state_dict(imported(each, tensors_of(each, dtype), model.config));
  return model;
}

Tensor tokens_of(const GPT& model) {
  return remainder(arange(14) * 5, model.config.vocab_size).view({2, 7});
}

nn::StateDict gradients_of(const GPT& model) {
  nn::StateDict gradients;
  for (const auto& [name, parameter] : model.named_parameters()) {
    gradients.emplace_back(name, parameter.grad());
  }
  return gradients;
}

}  // namespace

TEST_CASE("GPT-2 and Llama have PyTorch's logits and gradients") {
  for (const DType dtype : {float64, float32}) {
    for (const auto& each : torch_models()["cases"]) {
      CAPTURE(dtype, each["config"].dump());
      const GPT model = model_of(each, dtype);
      const Tensor logits = model(tokens_of(model));
      check_relative(logits, each["logits"], layer_tolerance(dtype));
      (logits * pattern(logits.shape(), 5, dtype)).sum().backward();
      const nn::StateDict gradients = exported(each, gradients_of(model), model.config);
      REQUIRE(gradients.size() == each["gradients"].size());
      for (const auto& [name, gradient] : gradients) {
        check_products(each["gradients"], name, gradient, layer_tolerance(dtype));
      }
    }
  }
}

TEST_CASE("what is imported is exported again") {
  for (const auto& each : torch_models()["cases"]) {
    const GPTConfig config = config_of(each);
    const nn::StateDict tensors = tensors_of(each, float32);
    const nn::StateDict again = exported(each, imported(each, tensors, config), config);
    REQUIRE(again.size() == tensors.size());
    for (const auto& [name, tensor] : tensors) CHECK(equal(again.at(name), tensor));
  }
}
