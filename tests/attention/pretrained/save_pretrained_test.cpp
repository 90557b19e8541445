#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/end_child.h"

#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/llama.h>
#include <tend/nn/files/safetensors.h>
#include <tend/tend.h>
#include <nlohmann/json.hpp>

using namespace tend;
using namespace tend::attention;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

namespace {

// A folder that does not exist yet. The destructor removes it.
class NewFolder {
 public:
  NewFolder()
      : path_(std::filesystem::temp_directory_path() / ("tend_saved_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~NewFolder() { std::filesystem::remove_all(path_); }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  nlohmann::json config() const {
    return nlohmann::json::parse(std::ifstream(path_ / "config.json"));
  }

 private:
  std::filesystem::path path_;
};

GPTConfig tiny_gpt2() {
  return {.vocab_size = 11,
          .context_length = 8,
          .width = 8,
          .num_heads = 2,
          .qkv_bias = true,
          .gelu = GeluKind::tanh,
          .tied_head = true};
}

GPTConfig tiny_llama() {
  return {.vocab_size = 11,
          .context_length = 8,
          .width = 8,
          .num_heads = 4,
          .norm = NormKind::rms,
          .positions = PositionKind::rotary,
          .feed_forward = FeedForwardKind::swiglu,
          .hidden_width = 12,
          .num_kv_heads = 2,
          .out_bias = false,
          .feed_forward_bias = false};
}

template <class Change>
GPTConfig changed(GPTConfig config, Change change) {
  change(config);
  return config;
}

std::string refused_to_save(const GPTConfig& config) {
  const NewFolder folder;
  try {
    save_pretrained(folder.path(), GPT(config));
  } catch (const Error& error) {
    CHECK_FALSE(std::filesystem::exists(folder.path()));
    return error.what();
  }
  return "nothing";
}

// A model whose norms and biases do not have their initial values.
GPT model_to_save(const GPTConfig& config) {
  manual_seed(3);
  GPT model(config);
  const NoGradGuard no_graph;
  for (const Tensor& parameter : model.parameters()) parameter.add_(randn(parameter.shape()), 0.1);
  model.eval();
  return model;
}

}  // namespace

TEST_CASE("a saved model of any parts is loaded with the same logits") {
  const auto scaled = [](double factor, std::int64_t context) {
    return changed(tiny_llama(), [&](GPTConfig& c) {
      c.rotary = {.theta = 12345.678, .scaling = {factor, 1.5, 3, context}};
    });
  };
  const std::vector<std::pair<std::string, GPTConfig>> models{
      {"gpt2", tiny_gpt2()},
      {"gpt2", changed(tiny_gpt2(),
                       [](GPTConfig& c) {
                         c.gelu = GeluKind::exact;
                         c.hidden_width = 20;
                         c.norm_eps = 1e-3;
                       })},
      {"llama", tiny_llama()},
      {"llama", changed(tiny_llama(), [](GPTConfig& c) { c.hidden_width = {}; })},
      {"llama", changed(tiny_llama(), [](GPTConfig& c) { c.tied_head = true; })},
      {"llama", changed(tiny_llama(), [](GPTConfig& c) { c.head_dim = 6; })},
      {"llama", changed(tiny_llama(), [](GPTConfig& c) { c.qkv_bias = c.out_bias = true; })},
      {"llama", changed(tiny_llama(), [](GPTConfig& c) { c.feed_forward_bias = true; })},
      {"llama",
       changed(tiny_llama(), [](GPTConfig& c) { c.feed_forward = FeedForwardKind::geglu; })},
      {"llama", changed(tiny_llama(),
                        [](GPTConfig& c) {
                          c.feed_forward = FeedForwardKind::geglu;
                          c.gelu = GeluKind::tanh;
                        })},
      {"llama", scaled(1, 0)},
      {"llama", scaled(4, 0)},
      {"llama", scaled(4, 6)},
      {"mistral", changed(tiny_llama(), [](GPTConfig& c) { c.window = 3; })},
      {"qwen2", changed(tiny_llama(), [](GPTConfig& c) { c.qkv_bias = true; })},
      {"qwen3", changed(tiny_llama(), [](GPTConfig& c) { c.qk_norm = true; })},
      {"qwen3",
       changed(tiny_llama(), [](GPTConfig& c) { c.qk_norm = c.qkv_bias = c.out_bias = true; })}};
  const Tensor tokens = remainder(arange(14) * 5, 11).view({2, 7});
  for (const auto& [type, config] : models) {
    const NewFolder folder;
    const GPT model = model_to_save(config);
    save_pretrained(folder.path(), model);
    CAPTURE(folder.config().dump());
    CHECK(folder.config()["model_type"] == type);
    const GPT loaded = load_pretrained(folder.path());
    CHECK(equal(loaded(tokens), model(tokens)));
    CHECK(pretrained_stop_tokens(folder.path()).empty());
  }
}

// tests/data/models.json has the names, shapes and configurations of transformers.
TEST_CASE("a saved folder has the names and shapes of transformers' models") {
  const auto data = nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/models.json"));
  const auto& cases = data.at("cases");
  REQUIRE(cases.size() == 9);
  for (const auto& each : cases) {
    const NewFolder folder;
    const std::string text = each["config"].dump();
    const bool is_gpt2 = each["config"]["model_type"] == "gpt2";
    const GPT model(is_gpt2 ? GPT2::config(text) : Llama::config(text));
    save_pretrained(folder.path(), model);
    const auto tensors = nn::load_safetensors(folder.path() / "model.safetensors");
    CHECK(tensors.metadata.at("format") == "pt");
    REQUIRE(tensors.tensors.size() == each["tensors"].size());
    for (const auto& entry : each["tensors"]) {
      const Tensor& tensor = tensors.tensors.at(entry[0].get<std::string>());
      CHECK(tensor.shape() == Shape(entry[1].get<std::vector<std::int64_t>>()));
    }
    const nlohmann::json config = folder.config();
    CAPTURE(config.dump(), text);
    CHECK(config["torch_dtype"] == "float32");
    for (const auto& [name, value] : config.items()) {
      // Skips entries that the stored file lacks, the stop token, which a GPT does not have, and
      // entries with "type", the old name of "rope_type".
      if (!each["config"].contains(name) || each["config"][name].is_null()) continue;
      if (name == "eos_token_id" || each["config"][name].contains("type")) continue;
      CHECK(each["config"][name] == value);
    }
  }
}

TEST_CASE("weights may be saved in half precision and in several files next to other files") {
  const NewFolder parent;
  const auto folder = parent.path() / "within";
  const GPT model = model_to_save(tiny_llama());
  save_pretrained(folder, model, {.max_shard_size = 500, .dtype = nn::HalfType::bfloat16});
  CHECK(std::filesystem::exists(folder / "model.safetensors.index.json"));
  std::ofstream(folder / "generation_config.json") << R"({"eos_token_id": 7})";
  const Tensor tokens = arange(7).view({1, 7});
  const Tensor halves = load_pretrained(folder)(tokens);
  CHECK_FALSE(equal(halves, model(tokens)));
  CHECK(allclose(halves, model(tokens), 0.1, 0.1));  // bfloat16 rounds weights to eight bits
  CHECK(nlohmann::json::parse(std::ifstream(folder / "config.json"))["torch_dtype"] == "bfloat16");
  save_pretrained(folder, model);
  CHECK(equal(load_pretrained(folder)(tokens), model(tokens)));
  CHECK(pretrained_stop_tokens(folder) == std::vector<std::int64_t>{7});
}

TEST_CASE("save_pretrained refuses settings that no file has before it writes anything") {
  const auto of_gpt2 = [](auto change) { return refused_to_save(changed(tiny_gpt2(), change)); };
  const auto of_llama = [](auto change) { return refused_to_save(changed(tiny_llama(), change)); };
  CHECK(of_gpt2([](GPTConfig& c) { c.tied_head = false; }) ==
        "[save_pretrained] files of model_type 'gpt2' cannot store this model: tied_head is false "
        "in the model, true in the file");
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.qkv_bias = false; }), ContainsSubstring("qkv_bias"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.out_bias = false; }), ContainsSubstring("out_bias"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.feed_forward_bias = false; }),
             ContainsSubstring("feed_forward_bias"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.norm_bias = false; }), ContainsSubstring("norm_bias"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.norm = NormKind::rms; }),
             EndsWith("model: norm is rms in the model, layer in the file"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.num_kv_heads = 1; }), ContainsSubstring("num_kv_heads"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.head_dim = 6; }), ContainsSubstring("head_dim"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.window = 2; }), ContainsSubstring("window"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.feed_forward = FeedForwardKind::swiglu; }),
             ContainsSubstring("feed_forward"));
  CHECK_THAT(of_gpt2([](GPTConfig& c) { c.qk_norm = true; }), ContainsSubstring("qk_norm"));
  for (const PositionKind kind :
       {PositionKind::alibi, PositionKind::sinusoidal, PositionKind::none}) {
    CHECK_THAT(of_llama([&](GPTConfig& c) { c.positions = kind; }), ContainsSubstring("positions"));
  }
  CHECK_THAT(of_llama([](GPTConfig& c) { c.norm = NormKind::layer; }),
             EndsWith("model: norm is layer in the model, rms in the file"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.out_bias = true; }), ContainsSubstring("_bias"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.rotary.dims = 2, c.head_dim = 4; }),
             ContainsSubstring("rotary.dims"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.rotary.interleaved = true; }),
             ContainsSubstring("rotary.interleaved"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.window = 3, c.qkv_bias = true; }),
             ContainsSubstring("qkv_bias"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.window = 3, c.feed_forward_bias = true; }),
             ContainsSubstring("feed_forward_bias"));
  CHECK_THAT(of_llama([](GPTConfig& c) { c.window = 3, c.qk_norm = true; }),
             ContainsSubstring("window"));
}

TEST_CASE("an error for a folder that cannot be created names it") {
  CHECK_THROWS_WITH(save_pretrained("/dev/null/model", GPT(tiny_llama())),
                    ContainsSubstring("[save_pretrained] /dev/null/model: cannot be made"));
}

TEST_CASE("a failed save leaves the files unchanged") {
  const NewFolder folder;
  const GPT old = model_to_save(tiny_llama());
  CHECK_THROWS_AS(save_pretrained(folder.path(), old, {.max_shard_size = 0}), Error);
  CHECK_FALSE(std::filesystem::exists(folder.path()));
  save_pretrained(folder.path(), old);
  const GPT other =
      model_to_save(changed(tiny_llama(), [](GPTConfig& c) { c.rotary.theta = 5e5; }));
  for (const char* taken : {"config.json.tmp", "model.safetensors.index.json"}) {
    CAPTURE(taken);
    std::filesystem::create_directory(folder.path() / taken);
    CHECK_THROWS_AS(save_pretrained(folder.path(), other, {.max_shard_size = 500}), IoError);
    std::filesystem::remove(folder.path() / taken);
    const GPT kept = load_pretrained(folder.path());
    CHECK(kept.config.rotary.theta == old.config.rotary.theta);
    CHECK(equal(kept.token_embedding.weight, old.token_embedding.weight));
  }
}

// Two models have the same shapes. A process writes one over the other, and is killed.
TEST_CASE("a killed save leaves no mixture of two models", "[products]") {
  const auto with_theta = [](double theta) {
    GPT model = model_to_save(changed(tiny_llama(), [&](GPTConfig& c) { c.rotary.theta = theta; }));
    const NoGradGuard no_graph;
    model.token_embedding.weight.fill_(theta);
    return model;
  };
  const GPT a = with_theta(1e4), b = with_theta(5e5);
  int unreadable = 0;
  for (int i = 0; i < 40; ++i) {
    const NewFolder folder;
    save_pretrained(folder.path(), a);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      save_pretrained(folder.path(), b, {.max_shard_size = i % 2 == 0 ? 500 : 1'000'000});
      tend::test::end_child(0);
    }
    usleep(static_cast<useconds_t>(100 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    try {
      const GPT found = load_pretrained(folder.path());
      CHECK(found.token_embedding.weight.min().item() == found.config.rotary.theta);
    } catch (const IoError&) {  // the new model is incomplete
      ++unreadable;
    }
  }
  CHECK(unreadable < 40);
}

TEST_CASE("floating numbers in config.json have a point and files name their format") {
  const NewFolder folder;
  GPTConfig config = tiny_llama();
  config.norm_eps = 0;
  config.rotary.scaling = {8, 1, 4, 32};
  save_pretrained(folder.path(), model_to_save(config), {.metadata = {{"note", "x"}}});
  const nlohmann::json saved = folder.config();
  CHECK(saved["rms_norm_eps"].is_number_float());
  CHECK(saved["rope_theta"].is_number_float());
  for (const char* name : {"factor", "low_freq_factor", "high_freq_factor"})
    CHECK(saved["rope_scaling"][name].is_number_float());
  const auto metadata = nn::load_safetensors(folder.path() / "model.safetensors").metadata;
  CHECK(metadata == std::map<std::string, std::string>{{"format", "pt"}, {"note", "x"}});
}
