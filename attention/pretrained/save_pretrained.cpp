#include <tend/attention/pretrained/save_pretrained.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/llama.h>
#include <tend/attention/pretrained/load_pretrained.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

namespace tend::attention {
namespace {

constexpr const char* kSave = "save_pretrained";
constexpr const char* kGPT2Type = "gpt2";
constexpr const char* kConfigFile = "config.json";

// The members of a JSON object, one on each line.
class Members {
 public:
  void add(const char* name, const char* text) { add_json(name, nn::json::quoted(text)); }
  void add(const char* name, const std::string& text) { add(name, text.c_str()); }
  void add(const char* name, std::int64_t number) { add_json(name, std::to_string(number)); }
  void add(const char* name, Flag value) { add_json(name, value ? "true" : "false"); }
  // Writes the fewest digits that are read as the same number. Whole numbers get ".0", since Python
  // would otherwise read an integer.
  void add(const char* name, double number) {
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    const std::string text(std::begin(digits), end);
    add_json(name, text.find_first_of(".e") == std::string::npos ? text + ".0" : text);
  }
  void add(const char* name, const std::optional<std::int64_t>& number) {
    add_json(name, number ? std::to_string(*number) : "null");
  }
  void add_json(const char* name, const std::string& json) {
    text_ += (text_.empty() ? "{\n  " : ",\n  ") + nn::json::quoted(name) + ": " + json;
  }
  std::string object() const { return text_ + "\n}"; }

 private:
  std::string text_;
};

// The type whose files may be able to store the model. check_kept() decides whether they can.
const char* model_type(const GPTConfig& config) {
  if (config.positions == PositionKind::learned) return kGPT2Type;
  if (config.qk_norm) return "qwen3";
  if (config.window) return "mistral";
  return config.qkv_bias && !config.out_bias ? "qwen2" : "llama";
}

const char* architecture(const std::string& type) {
  if (type == kGPT2Type) return "GPT2LMHeadModel";
  if (type == "mistral") return "MistralForCausalLM";
  if (type == "llama") return "LlamaForCausalLM";
  return type == "qwen2" ? "Qwen2ForCausalLM" : "Qwen3ForCausalLM";
}

void add_gpt2(Members& json, const GPTConfig& c) {
  json.add("n_positions", c.context_length);
  json.add("n_embd", c.width);
  json.add("n_head", c.num_heads);
  json.add("n_layer", c.num_layers);
  json.add("n_inner", c.hidden_width);
  json.add("activation_function", c.gelu == GeluKind::tanh ? "gelu_new" : "gelu");
  json.add("layer_norm_epsilon", c.norm_eps);
  json.add("resid_pdrop", c.dropout);
  json.add("attn_pdrop", c.attention_dropout.value_or(c.dropout));
  json.add("embd_pdrop", c.embedding_dropout.value_or(c.dropout));
}

void add_rotary(Members& json, const RotaryOptions& rotary) {
  json.add("rope_theta", rotary.theta);
  const RotaryScaling& scaling = rotary.scaling;
  const bool by_frequency = scaling.original_context > 0;
  if (scaling.factor == 1 && !by_frequency) return json.add_json("rope_scaling", "null");
  Members section;
  section.add("rope_type", by_frequency ? "llama3" : "linear");
  section.add("factor", scaling.factor);
  if (by_frequency) {
    section.add("low_freq_factor", scaling.low_frequency);
    section.add("high_freq_factor", scaling.high_frequency);
    section.add("original_max_position_embeddings", scaling.original_context);
  }
  json.add_json("rope_scaling", section.object());
}

void add_llama(Members& json, const std::string& type, const GPTConfig& c) {
  json.add("max_position_embeddings", c.context_length);
  json.add("hidden_size", c.width);
  json.add("intermediate_size", c.hidden_width.value_or(4 * c.width));
  json.add("num_hidden_layers", c.num_layers);
  json.add("num_attention_heads", c.num_heads);
  json.add("num_key_value_heads", c.kv_heads());
  json.add("head_dim", c.head_size());
  const bool is_silu = c.feed_forward == FeedForwardKind::swiglu;
  const char* gelu = c.gelu == GeluKind::tanh ? "gelu_pytorch_tanh" : "gelu";
  json.add("hidden_act", is_silu ? "silu" : gelu);
  json.add("rms_norm_eps", c.norm_eps);
  add_rotary(json, c.rotary);
  json.add("attention_dropout", c.attention_dropout.value_or(c.dropout));
  // In transformers, the other models do not have these settings, and ignore them.
  if (type == "llama" || type == "qwen3") json.add("attention_bias", c.qkv_bias);
  if (type == "llama") json.add("mlp_bias", c.feed_forward_bias);
  if (type == "mistral") json.add("sliding_window", c.window);
}

std::string config_text(const std::string& type, const GPTConfig& config,
                        const std::string& dtype) {
  Members json;
  json.add_json("architectures", '[' + nn::json::quoted(architecture(type)) + ']');
  json.add("model_type", type);
  json.add("torch_dtype", dtype);
  json.add("vocab_size", config.vocab_size);
  type == kGPT2Type ? add_gpt2(json, config) : add_llama(json, type, config);
  json.add("tie_word_embeddings",
           Flag(config.tied_head || type == kGPT2Type));  // GPT-2's head is always tied
  json.add_json("bos_token_id", "null");
  json.add_json("eos_token_id", "null");
  return json.object() + '\n';
}

// The settings that decide what a model computes, by their names in GPTConfig. Settings without
// effect have their usual value.
std::vector<std::pair<const char*, std::string>> settings_of(const GPTConfig& c) {
  constexpr const char* kPositions[] = {"learned", "sinusoidal", "rotary", "alibi", "none"};
  constexpr const char* kFeedForwards[] = {"gelu", "swiglu", "geglu", "relu", "none"};
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  constexpr const char* kNorms[] = {"layer", "rms", "none"};
  const bool is_rotary = c.positions == PositionKind::rotary;
  const std::int64_t dims = is_rotary ? c.rotary.dims.value_or(c.head_size()) : c.head_size();
  return {{"positions", kPositions[static_cast<std::size_t>(c.positions)]},
          {"norm", kNorms[static_cast<std::size_t>(c.norm)]},
          {"norm_bias", flag(c.norm != NormKind::layer || c.norm_bias)},
          {"feed_forward", kFeedForwards[static_cast<std::size_t>(c.feed_forward)]},
          {"num_kv_heads", std::to_string(c.kv_heads())},
          {"head_dim", std::to_string(c.head_size())},
          {"qk_norm", flag(c.qk_norm)},
          {"qkv_bias", flag(c.qkv_bias)},
          {"out_bias", flag(c.out_bias)},
          {"feed_forward_bias", flag(c.feed_forward_bias)},
          {"tied_head", flag(c.tied_head)},
          {"window", c.window ? std::to_string(*c.window) : "none"},
          {"rotary.dims", dims == c.head_size() ? "all" : std::to_string(dims)},
          {"rotary.interleaved", flag(is_rotary && c.rotary.interleaved)}};
}

// Throws an Error if the model that would be read back computes something else.
void check_kept(const std::string& type, const GPTConfig& own, const GPTConfig& read) {
  const auto here = settings_of(own), there = settings_of(read);
  std::string differing;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i].second == there[i].second) continue;
    differing += as_text(differing.empty() ? "" : "; ", here[i].first, " is ", here[i].second,
                         " in the model, ", there[i].second, " in the file");
  }
  if (!differing.empty())
    fail(kSave, "files of model_type '", type, "' cannot store this model: ", differing);
}

// Checks the vocabulary, since parts of a model may have been replaced after it was created.
void check_vocabulary(const nn::StateDict& state, const GPTConfig& config) {
  const Shape expected{config.vocab_size, config.width};
  for (const char* name : {"token_embedding.weight", "head.weight"}) {
    if (!state.contains(name) || state.at(name).shape() == expected) continue;
    fail<ShapeError>(kSave, "'", name, "' is ", state.at(name).shape(),
                     ", but vocab_size and width of the config are ", expected);
  }
}

std::string stored_dtype(const GPT& model, const nn::ShardOptions& options) {
  if (!options.dtype) return as_text(model.token_embedding.weight.dtype());
  return *options.dtype == nn::HalfType::float16 ? "float16" : "bfloat16";
}

// The outermost missing folder on the path. Empty if all folders exist.
std::filesystem::path first_missing(const std::filesystem::path& folder) {
  std::filesystem::path missing;
  std::error_code ignored;
  for (std::filesystem::path each = (folder / "").parent_path();
       !each.empty() && !std::filesystem::exists(each, ignored); each = each.parent_path())
    missing = each;
  return missing;
}

// Removes empty folders from `inner` up to `outer`.
void remove_folders(const std::filesystem::path& inner, const std::filesystem::path& outer) {
  if (outer.empty()) return;
  std::error_code error;
  for (std::filesystem::path each = (inner / "").parent_path();; each = each.parent_path()) {
    if (!std::filesystem::remove(each, error) || each == outer) return;
  }
}

}  // namespace

void save_pretrained(const std::filesystem::path& folder, const GPT& model,
                     const nn::ShardOptions& options) {
  const GPTConfig& config = checked_block(kSave, model.config);
  const std::string type = model_type(config);
  const bool is_gpt2 = type == kGPT2Type;
  const std::filesystem::path path = folder / kConfigFile;
  const std::string text = config_text(type, config, stored_dtype(model, options));
  check_kept(type, config, is_gpt2 ? GPT2::config(text, path) : Llama::config(text, path));
  const nn::StateDict state = model.state_dict();
  check_vocabulary(state, config);
  const nn::StateDict exported =
      is_gpt2 ? GPT2::export_state(state, config) : Llama::export_state(state, config);
  nn::ShardOptions with_format = options;
  with_format.metadata.try_emplace("format", "pt");  // without it transformers reads no weights
  const std::filesystem::path new_folders = first_missing(folder);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) nn::FileName{kSave, folder}.refuse("cannot be made: ", error.message());
  try {
    nn::safetensors::save_shards_with(folder, exported, with_format, {kConfigFile, text});
  } catch (...) {
    remove_folders(folder, new_folders);
    throw;
  }
}

}  // namespace tend::attention
