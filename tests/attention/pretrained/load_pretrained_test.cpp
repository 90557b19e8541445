// Compares with tests/data/models.json: results of GPT-2 and Llama in PyTorch
// (tests/data/make_models.py).
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "tests/attention/torch_nn/fixtures.h"
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
  REQUIRE_FALSE(config.attention_dropout.has_value());
  REQUIRE_FALSE(config.embedding_dropout.has_value());
  return config;
}

// The tensors of the file, with the values that make_models.py gives them.
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

TEST_CASE("exporting an imported state gives the original tensors") {
  for (const auto& each : torch_models()["cases"]) {
    const GPTConfig config = config_of(each);
    const nn::StateDict tensors = tensors_of(each, float32);
    const nn::StateDict again = exported(each, imported(each, tensors, config), config);
    REQUIRE(again.size() == tensors.size());
    for (const auto& [name, tensor] : tensors) CHECK(equal(again.at(name), tensor));
  }
}

namespace {

// A folder in the format of save_pretrained. The destructor removes it.
class ModelFolder {
 public:
  explicit ModelFolder(const nlohmann::json& each)
      : path_(std::filesystem::temp_directory_path() / ("tend_model_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
    write("config.json", each["config"].dump());
  }
  ~ModelFolder() { std::filesystem::remove_all(path_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  // Writes two files and an index, or one file.
  void write_tensors(const nn::StateDict& tensors, bool in_shards) const {
    if (!in_shards) return nn::save_safetensors(path_ / "model.safetensors", tensors);
    nn::StateDict parts[2];
    nlohmann::json index;
    int i = 0;
    for (const auto& [name, tensor] : tensors) {
      const int part = i++ % 2;
      parts[part].emplace_back(name, tensor);
      index["weight_map"][name] = "part" + std::to_string(part) + ".safetensors";
    }
    for (int part = 0; part < 2; ++part) {
      nn::save_safetensors(path_ / ("part" + std::to_string(part) + ".safetensors"), parts[part]);
    }
    write("model.safetensors.index.json", index.dump());
  }

 private:
  std::filesystem::path path_;
};

const nlohmann::json& first_of(const char* type) {
  for (const auto& each : torch_models()["cases"]) {
    if (each["config"]["model_type"] == type) return each;
  }
  throw std::logic_error("no such model");
}

}  // namespace

TEST_CASE("models are loaded from folders with one file of weights or several") {
  for (const std::string& type : std::vector<std::string>{"gpt2", "llama", "qwen3"}) {
    const auto& each = first_of(type.c_str());
    nn::StateDict tensors = tensors_of(each, float32);
    if (type == "gpt2") {  // GPT-2's first files have a prefix, masks and the head
      nn::StateDict prefixed;
      for (const auto& [name, x] : tensors) prefixed.emplace_back("transformer." + name, x);
      prefixed.emplace_back("transformer.h.0.attn.bias", ones({1, 1, 9, 9}));
      prefixed.emplace_back("transformer.h.0.attn.masked_bias", tensor(-1e4));
      prefixed.emplace_back("lm_head.weight", tensors.at("wte.weight").clone());
      tensors = prefixed;
    }
    for (const bool in_shards : {false, true}) {
      const ModelFolder folder(each);
      folder.write_tensors(tensors, in_shards);
      const GPT model = load_pretrained(folder.path());
      CHECK_FALSE(model.is_training());
      check_relative(model(tokens_of(model)), each["logits"], layer_tolerance(float32));
    }
  }
}

TEST_CASE("the tokens that end a text are read from two files as a number or a list") {
  using Tokens = std::vector<std::int64_t>;
  const ModelFolder folder(first_of("llama"));
  CHECK(pretrained_stop_tokens(folder.path()) == Tokens{1, 2});
  folder.write("generation_config.json", R"({"eos_token_id": 7})");
  CHECK(pretrained_stop_tokens(folder.path()) == Tokens{7});
  folder.write("generation_config.json", R"({"eos_token_id": null})");
  CHECK(pretrained_stop_tokens(folder.path()) == Tokens{1, 2});
  folder.write("config.json", "{}");
  CHECK(pretrained_stop_tokens(folder.path()).empty());
  for (const char* wrong : {"[1, null]", "2.0", "\"2\"", "[[1]]", "{\"0\": 1}"}) {
    folder.write("generation_config.json", std::string("{\"eos_token_id\": ") + wrong + "}");
    CHECK_THROWS_AS(pretrained_stop_tokens(folder.path()), IoError);
    CHECK_THROWS_WITH(
        pretrained_stop_tokens(folder.path()),
        Catch::Matchers::StartsWith("[pretrained_stop_tokens] " + folder.path().string() +
                                    "/generation_config.json: 'eos_token_id'"));
  }
}

TEST_CASE("an error says that a folder does not exist and that nothing is downloaded") {
  CHECK_THROWS_WITH(
      load_pretrained("no/gpt2"),
      "[load_pretrained] no/gpt2: there is no such folder, and nothing is downloaded");
  CHECK_THROWS_WITH(
      pretrained_stop_tokens("no/gpt2"),
      "[pretrained_stop_tokens] no/gpt2: there is no such folder, and nothing is downloaded");
  CHECK_THROWS_AS(load_pretrained("no/gpt2"), IoError);
}

TEST_CASE("an error for an incomplete folder says what is missing") {
  const auto& each = first_of("llama");
  const nn::StateDict tensors = tensors_of(each, float32);
  const auto refusal = [&](const auto& damage) {
    const ModelFolder folder(each);
    nn::StateDict state = tensors;
    damage(folder, state);
    if (!state.empty()) folder.write_tensors(state, false);
    try {
      load_pretrained(folder.path());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal([](auto&, auto& state) { state.erase("model.norm.weight"); }),
             ContainsSubstring("[Llama] missing: 'model.norm.weight'"));
  CHECK_THAT(refusal([](auto&, auto& state) { state.emplace_back("more", ones({1})); }),
             ContainsSubstring("[Llama] unknown: 'more'"));
  CHECK_THAT(refusal([](auto&, auto& state) {
               state["lm_head.weight"] = ones({2, 2});
             }),
             ContainsSubstring("head.weight"));
  CHECK_THAT(refusal([](auto&, auto& state) {
               state["model.layers.0.mlp.gate_proj.weight"] = ones({11, 16});
               state["model.layers.0.mlp.up_proj.weight"] = ones({9, 16});
             }),
             ContainsSubstring("joined with it is float32 (9, 16)"));
  CHECK_THAT(refusal([](auto& folder, auto& state) {
               state.clear();
               folder.write("model.safetensors.index.json", R"({"weight_map": "a"})");
             }),
             ContainsSubstring("there is no weight_map"));
  CHECK_THAT(refusal([](auto&, auto& state) { state.clear(); }),
             ContainsSubstring("model.safetensors"));
  CHECK_THAT(refusal([](auto& folder, auto&) {
               nlohmann::json config = first_of("llama")["config"];
               config["num_hidden_layers"] = 1'000'000'000;
               folder.write("config.json", config.dump());
             }),
             ContainsSubstring("1000000000 layers are more than the "));
  for (const char* name : {"vocab_size", "hidden_size", "intermediate_size"})
    CHECK_THAT(refusal([&](auto& folder, auto&) {
                 nlohmann::json config = first_of("llama")["config"];
                 config[name] = 1'000'000'000'000;
                 folder.write("config.json", config.dump());
               }),
               ContainsSubstring("config.json: its sizes describe matrices of "));
  CHECK_THAT(refusal([](auto& folder, auto&) { folder.write("config.json", "{"); }),
             ContainsSubstring("not JSON"));
  CHECK_THAT(refusal([](auto& folder, auto& state) {
               state.clear();
               folder.write("model.safetensors.index.json",
                            R"({"weight_map": {"a": "../secret.safetensors"}})");
             }),
             ContainsSubstring("must name a file in the folder of this index"));
}

TEST_CASE("a model has the dropouts of its config.json") {
  const auto config_with = [](const std::string& type, const nlohmann::json& more) {
    nlohmann::json config = first_of(type.c_str())["config"];
    for (const char* name : {"resid_pdrop", "attn_pdrop", "embd_pdrop", "attention_dropout"})
      config.erase(name);
    config.update(more);
    return type == "gpt2" ? GPT2::config(config.dump()) : Llama::config(config.dump());
  };
  const GPTConfig own =
      config_with("gpt2", {{"resid_pdrop", 0.25}, {"attn_pdrop", 0}, {"embd_pdrop", 0.5}});
  CHECK(own.dropout == 0.25);
  CHECK(own.attention_dropout == 0.0);
  CHECK(own.embedding_dropout == 0.5);
  // The default is 0.1. A dropout that equals `dropout` is not stored separately.
  for (const nlohmann::json& more :
       {nlohmann::json::object(), nlohmann::json{{"embd_pdrop", 0.1}, {"resid_pdrop", nullptr}}}) {
    const GPTConfig all = config_with("gpt2", more);
    CHECK(all.dropout == 0.1);
    CHECK_FALSE(all.attention_dropout.has_value());
    CHECK_FALSE(all.embedding_dropout.has_value());
  }
  const GPTConfig mixed = config_with("gpt2", {{"resid_pdrop", 0.0}});
  CHECK(mixed.attention_dropout == 0.1);
  CHECK(mixed.embedding_dropout == 0.1);
  const GPTConfig llama = config_with("llama", {{"attention_dropout", 0.3}});
  CHECK(llama.dropout == 0);
  CHECK(llama.attention_dropout == 0.3);
  CHECK_FALSE(config_with("llama", {{"attention_dropout", 0.0}}).attention_dropout.has_value());
  CHECK_THROWS_WITH(config_with("gpt2", {{"attn_pdrop", "none"}}),
                    Catch::Matchers::ContainsSubstring("'attn_pdrop' is not a number"));
}

TEST_CASE("a size that a config.json lacks has transformers' default and null leaves it empty") {
  const auto heads = [](const char* type, const std::map<std::string, nlohmann::json>& changes) {
    nlohmann::json config = first_of(type)["config"];
    config.erase("num_key_value_heads");
    config.erase("head_dim");
    for (const auto& [name, value] : changes) config[name] = value;
    return Llama::config(config.dump());
  };
  CHECK_FALSE(heads("llama", {}).num_kv_heads.has_value());
  CHECK(heads("mistral", {}).num_kv_heads == 8);
  CHECK(heads("qwen2", {}).num_kv_heads == 32);
  CHECK(heads("qwen3", {}).num_kv_heads == 32);
  CHECK_FALSE(heads("mistral", {{"num_key_value_heads", nullptr}}).num_kv_heads.has_value());
  CHECK_FALSE(heads("mistral", {}).head_dim.has_value());
  CHECK(heads("qwen3", {}).head_dim == 128);
  CHECK(heads("qwen3", {{"head_dim", 6}}).head_dim == 6);
  // Of these types, transformers reads attention_bias only for llama and qwen3.
  CHECK(heads("llama", {{"attention_bias", true}}).qkv_bias);
  CHECK(heads("qwen3", {{"attention_bias", true}}).out_bias);
  CHECK_FALSE(heads("mistral", {{"attention_bias", true}}).qkv_bias);
  CHECK_FALSE(heads("mistral", {{"mlp_bias", true}}).feed_forward_bias);
}

TEST_CASE("a config.json that asks for something a GPT does not have is refused") {
  const auto refused = [](const std::string& type, const std::string& key,
                          const nlohmann::json& value, const std::string& message) {
    nlohmann::json config = first_of(type.c_str())["config"];
    config[key] = value;
    CAPTURE(type, key);
    CHECK_THROWS_WITH(type == "gpt2" ? GPT2::config(config.dump()) : Llama::config(config.dump()),
                      Catch::Matchers::ContainsSubstring(message));
  };
  refused("gpt2", "activation_function", "relu", "'relu' is not supported");
  refused("gpt2", "scale_attn_weights", false, "not scaled by 1 / sqrt(head_dim)");
  refused("gpt2", "scale_attn_by_inverse_layer_idx", true, "not scaled by 1 / sqrt(head_dim)");
  refused("gpt2", "tie_word_embeddings", "no", "'tie_word_embeddings' is not a boolean");
  refused("gpt2", "tie_word_embeddings", false, "not the token embedding");
  refused("gpt2", "n_head", "two", "'n_head' is not an integer");
  refused("gpt2", "n_embd", nullptr, "'n_embd' is missing");
  refused("gpt2", "model_type", "llama", "model_type is 'llama'");
  refused("llama", "rope_scaling", {{"type", "yarn"}}, "rope_type 'yarn'");
  refused("llama", "rope_scaling", "linear", "'rope_scaling' is not an object");
  refused("llama", "rope_parameters", {{"full_attention", {{"rope_type", "yarn"}}}},
          "differ by layer");
  refused("llama", "partial_rotary_factor", 0.5, "partial_rotary_factor");
  refused("qwen3", "layer_types", {"full_attention", "sliding_attention"}, "layer_types");
  refused("qwen3", "layer_types", "full_attention", "'layer_types' is not an array");
  refused("mistral", "layer_types", {"full_attention"}, "layer_types other than sliding_attention");
  refused("llama", "rope_scaling", {{"factor", 4}}, "a factor needs a rope_type");
  refused("llama", "rope_scaling", {{"type", "linear"}}, "'linear' needs a factor");
  refused("qwen3", "layer_types", {3}, "layer_types other than full_attention");
  refused("llama", "hidden_act", 3, "'hidden_act' is not a string");
  refused("llama", "hidden_act", "tanh", "'tanh' is not supported");
  refused("qwen2", "use_sliding_window", true, "use_sliding_window");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  CHECK_THROWS_WITH(Llama::config(deep), Catch::Matchers::ContainsSubstring("deeper than 64"));
  for (const char* text : {"", "[]", "1", "{\"a\": 1, \"a\": 2}", "{\"a\": [1, {}"}) {
    CHECK_THROWS_AS(Llama::config(text), IoError);
  }
}

TEST_CASE("export_state refuses to lose a head that differs from the token embedding") {
  for (const char* type : {"gpt2", "qwen2"}) {
    const auto& each = first_of(type);
    GPT model(config_of(each));
    nn::add_lora(model, {"head"}, {.rank = 2});
    model.head.lora_B.detach().fill_(0.3);
    nn::merge_lora(model);
    nn::StateDict state = model.state_dict();
    CHECK_THROWS_WITH(exported(each, state, model.config),
                      Catch::Matchers::ContainsSubstring("would be lost"));
    state.erase("token_embedding.weight");
    CHECK_THROWS_WITH(exported(each, state, model.config),
                      Catch::Matchers::ContainsSubstring("would be lost"));
  }
}

TEST_CASE("import_state refuses a head that differs from the embedding that it is tied to") {
  for (const char* type : {"gpt2", "qwen2"}) {
    const auto& each = first_of(type);
    const GPTConfig config = config_of(each);
    REQUIRE(config.tied_head);
    nn::StateDict tensors = tensors_of(each, float32);
    const Tensor embedding =
        imported(each, tensors, config).at("token_embedding.weight").detach().clone();
    Tensor& head = tensors.emplace_back("lm_head.weight", embedding).second;
    CHECK(equal(imported(each, tensors, config).at("head.weight"), embedding));
    for (const Tensor& other : {embedding + 1, embedding.to(float64), embedding.flatten()}) {
      head = other;
      CHECK_THROWS_WITH(imported(each, tensors, config),
                        Catch::Matchers::ContainsSubstring("'lm_head.weight' differs from '"));
    }
  }
}

TEST_CASE("Mistral has a window of 4096 unless its config.json gives another window or null") {
  nlohmann::json config = first_of("mistral")["config"];
  config["sliding_window"] = nullptr;
  CHECK_FALSE(Llama::config(config.dump()).window.has_value());
  config.erase("sliding_window");
  CHECK(Llama::config(config.dump()).window == 4096);
}

TEST_CASE("values of a config.json that are null or defaults have no effect") {
  const nlohmann::json config = first_of("qwen3")["config"];
  const GPTConfig plain = Llama::config(config.dump());
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"layer_types", nullptr},
           {"rope_scaling", {{"rope_type", "default"}, {"factor", 2}}},
           {"rope_scaling", nlohmann::json::object()}}) {
    nlohmann::json same = config;
    same[key] = value;
    CAPTURE(key);
    const GPTConfig found = Llama::config(same.dump());
    CHECK(found.rotary.theta == plain.rotary.theta);
    CHECK(found.rotary.scaling.factor == 1);
    CHECK_FALSE(found.window.has_value());
  }
}

TEST_CASE("GPT2 refuses to export a model whose head is not tied") {
  const GPT model(
      {.vocab_size = 5, .context_length = 4, .width = 8, .num_heads = 2, .num_layers = 1});
  CHECK_THROWS_WITH(GPT2::export_state(model.state_dict(), model.config),
                    Catch::Matchers::ContainsSubstring("config.tied_head must be true"));
}
