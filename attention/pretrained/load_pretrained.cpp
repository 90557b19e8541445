#include <tend/attention/pretrained/load_pretrained.h>

#include <set>
#include <string>
#include <system_error>

#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/json_values.h>
#include <tend/attention/pretrained/llama.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/safetensors.h>

namespace tend::attention {
namespace {

constexpr const char* kLoad = "load_pretrained";

std::string read_text(const std::filesystem::path& path) {
  nn::InputFile file(path, kLoad);
  std::string text(file.size(), '\0');
  file.read(text.data(), text.size());
  return text;
}

// The files that an index names, each once.
std::set<std::string> shards(const std::filesystem::path& index) {
  const JsonValues json(kLoad, read_text(index));
  std::set<std::string> files = json.texts_under("weight_map");
  for (const std::string& file : files) {
    if (std::filesystem::path(file).filename() != file || file == "..") {
      fail<IoError>(kLoad, index.string(), ": '", file, "' is no file beside it");
    }
  }
  return files;
}

nn::StateDict load_tensors(const std::filesystem::path& folder) {
  const auto whole = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  std::error_code ignored;  // where it cannot be seen, it cannot be opened either
  if (std::filesystem::exists(whole, ignored) || !std::filesystem::exists(index, ignored)) {
    return nn::load_safetensors(whole).tensors;
  }
  nn::StateDict all;
  for (const std::string& file : shards(index)) {
    for (auto& [name, tensor] : nn::load_safetensors(folder / file).tensors) {
      all.emplace_back(name, tensor);
    }
  }
  return all;
}

// A number or a list.
std::vector<std::int64_t> stop_tokens(const std::filesystem::path& file) {
  const JsonValues json(kLoad, read_text(file));
  const std::string name = "eos_token_id";
  std::vector<std::int64_t> tokens;
  if (json.is_integer(name)) tokens.push_back(*json.integer(name));
  for (int i = 0; json.is_integer(name + '.' + std::to_string(i)); ++i) {
    tokens.push_back(*json.integer(name + '.' + std::to_string(i)));
  }
  return tokens;
}

}  // namespace

std::vector<std::int64_t> pretrained_stop_tokens(const std::filesystem::path& folder) {
  return with_memory([&] {
    std::error_code ignored;
    const auto own = folder / "generation_config.json";
    std::vector<std::int64_t> tokens;
    if (std::filesystem::exists(own, ignored)) tokens = stop_tokens(own);
    return tokens.empty() ? stop_tokens(folder / "config.json") : tokens;
  });
}

GPT load_pretrained(const std::filesystem::path& folder) {
  return with_memory([&] {
    const std::string text = read_text(folder / "config.json");
    const bool is_gpt2 = JsonValues(kLoad, text).text("model_type") == "gpt2";
    GPT model(is_gpt2 ? GPT2::config(text) : Llama::config(text));
    const nn::StateDict tensors = load_tensors(folder);
    model.load_state_dict(is_gpt2 ? GPT2::import_state(tensors, model.config)
                                  : Llama::import_state(tensors, model.config));
    model.eval();
    return model;
  });
}

}  // namespace tend::attention
