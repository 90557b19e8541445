#include <tend/attention/pretrained/load_pretrained.h>

#include <string>
#include <system_error>

#include <tend/attention/pretrained/config_reader.h>
#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/llama.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

namespace tend::attention {
namespace {

constexpr const char* kLoad = "load_pretrained";
constexpr const char* kStopTokens = "pretrained_stop_tokens";

void check_folder(const char* operation, const std::filesystem::path& folder) {
  std::error_code ignored;  // if the folder cannot be inspected, opening its files reports why
  if (std::filesystem::status(folder, ignored).type() == std::filesystem::file_type::not_found)
    nn::FileName{operation, folder}.refuse("there is no such folder, and nothing is downloaded");
}

nn::StateDict load_tensors(const std::filesystem::path& folder) {
  const auto whole = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  std::error_code ignored;  // a file that cannot be inspected cannot be opened either
  const bool is_whole =
      std::filesystem::exists(whole, ignored) || !std::filesystem::exists(index, ignored);
  return nn::load_safetensors(is_whole ? whole : index).tensors;
}

// Reads eos_token_id, which is a number or an array.
std::vector<std::int64_t> stop_tokens(const std::filesystem::path& path) {
  const nn::FileName file{kStopTokens, path};
  const nn::json::Value root = nn::json::read(file);
  const nn::json::Value* found = ConfigReader(file, root).find("eos_token_id");
  if (found == nullptr || found->is_null()) return {};
  if (found->is_number_integer()) return {found->get<std::int64_t>()};
  const auto is_integer = [](const nn::json::Value& each) { return each.is_number_integer(); };
  if (found->is_array() && std::all_of(found->begin(), found->end(), is_integer))
    return found->get<std::vector<std::int64_t>>();
  file.refuse("'eos_token_id' is neither an integer nor an array of integers");
}

// The number of elements in the matrices of a model with this configuration.
double elements_of(const GPTConfig& c) {
  const auto width = static_cast<double>(c.width);
  const double heads = static_cast<double>(c.num_heads) + static_cast<double>(c.kv_heads());
  const double attention = 2 * width * heads * static_cast<double>(c.head_size());
  const bool is_gated =
      c.feed_forward == FeedForwardKind::swiglu || c.feed_forward == FeedForwardKind::geglu;
  const double hidden = c.hidden_width ? static_cast<double>(*c.hidden_width) : 4 * width;
  const double feed_forward = (is_gated ? 3 : 2) * width * hidden;
  const double tokens = static_cast<double>(c.vocab_size) * (c.tied_head ? 1 : 2);
  const double places =
      c.positions == PositionKind::learned ? static_cast<double>(c.context_length) : 0.0;
  return width * (tokens + places + 1) +
         static_cast<double>(c.num_layers) * (attention + feed_forward);
}

// Must be called before the model is created: small files may describe a model that exceeds the
// memory.
void check_fits(const nn::FileName& file, const GPTConfig& config, const nn::StateDict& tensors) {
  if (config.num_layers > std::ssize(tensors))
    file.refuse(config.num_layers, " layers are more than the ", tensors.size(),
                " tensors of the files");
  double there = 0;
  for (const auto& [name, tensor] : tensors) there += static_cast<double>(tensor.numel());
  // Smaller differences are found when the tensors are loaded. These errors name a tensor.
  const double needed = elements_of(config);
  if (needed > 2 * there + 1e6)
    file.refuse("its sizes describe matrices of ", needed, " elements, but all tensors have only ",
                there);
}

}  // namespace

std::vector<std::int64_t> pretrained_stop_tokens(const std::filesystem::path& folder) {
  check_folder(kStopTokens, folder);
  std::error_code ignored;
  const auto own = folder / "generation_config.json";
  std::vector<std::int64_t> tokens;
  if (std::filesystem::exists(own, ignored)) tokens = stop_tokens(own);
  return tokens.empty() ? stop_tokens(folder / "config.json") : tokens;
}

GPT load_pretrained(const std::filesystem::path& folder) {
  check_folder(kLoad, folder);
  const std::filesystem::path path = folder / "config.json";
  const nn::FileName file{kLoad, path};
  const std::string text = nn::read_text(file);
  const nn::json::Value root = nn::json::parse(file, text);
  const bool is_gpt2 =
      ConfigReader(file, root).type_among({"gpt2", "llama", "mistral", "qwen2", "qwen3"}) == "gpt2";
  const GPTConfig config = is_gpt2 ? GPT2::config(text, path) : Llama::config(text, path);
  const nn::StateDict tensors = load_tensors(folder);
  check_fits(file, config, tensors);
  GPT model(config);
  model.load_state_dict(is_gpt2 ? GPT2::import_state(tensors, model.config)
                                : Llama::import_state(tensors, model.config));
  model.eval();
  return model;
}

}  // namespace tend::attention
