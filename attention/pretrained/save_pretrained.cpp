#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <tend/attention/pretrained/gpt2.h>
#include <tend/attention/pretrained/llama.h>
#include <tend/attention/pretrained/load_pretrained.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/write_file.h>

namespace tend::attention {
namespace {

constexpr const char* kSave = "save_pretrained";
constexpr const char* kGPT2Type = "gpt2";

// The members of a JSON object, one a line.
class Members {
 public:
  void add(const char* name, const char* text) { add_json(name, nn::json::quoted(text)); }
  void add(const char* name, const std::string& text) { add(name, text.c_str()); }
  void add(const char* name, std::int64_t number) { add_json(name, std::to_string(number)); }
  void add(const char* name, Flag value) { add_json(name, value ? "true" : "false"); }
  // With the fewest digits that are read as the same number.
  void add(const char* name, double number) {
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
    add_json(name, std::string(std::begin(digits), end));
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

// The model_type of which a config is, if of any.
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
  // transformers' other models have no such names, and ignore them.
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
           Flag(config.tied_head || type == kGPT2Type));  // GPT-2's always is
  json.add_json("bos_token_id", "null");
  json.add_json("eos_token_id", "null");
  return json.object() + '\n';
}

// Error where the model that the text tells of would compute something else.
void check_kept(const std::string& type, const GPTConfig& own, const GPTConfig& read) {
  const bool has_rotary = own.positions == PositionKind::rotary;
  const RotaryOptions &angles = own.rotary, &read_angles = read.rotary;
  const struct {
    const char* name;
    bool is_kept;
  } parts[] = {
      {"positions", own.positions == read.positions},
      {"norm", own.norm == read.norm},
      {"norm_bias", own.norm == NormKind::rms || own.norm_bias == read.norm_bias},
      {"feed_forward", own.feed_forward == read.feed_forward},
      {"num_kv_heads", own.kv_heads() == read.kv_heads()},
      {"head_dim", own.head_size() == read.head_size()},
      {"qk_norm", own.qk_norm == read.qk_norm},
      {"qkv_bias", own.qkv_bias == read.qkv_bias},
      {"out_bias", own.out_bias == read.out_bias},
      {"feed_forward_bias", own.feed_forward_bias == read.feed_forward_bias},
      {"tied_head", own.tied_head == read.tied_head},
      {"window", own.window == read.window},
      {"rotary.dims", !has_rotary || angles.dims.value_or(own.head_size()) == own.head_size()},
      {"rotary.interleaved", !has_rotary || angles.interleaved == read_angles.interleaved},
  };
  for (const auto& [name, is_kept] : parts) {
    if (is_kept) continue;
    fail(kSave, "no model that transformers calls '", type, "' has this model's ", name);
  }
}

std::string stored_dtype(const GPT& model, const nn::ShardOptions& options) {
  if (!options.dtype) return as_text(model.token_embedding.weight.dtype());
  return *options.dtype == nn::HalfType::float16 ? "float16" : "bfloat16";
}

}  // namespace

void save_pretrained(const std::filesystem::path& folder, const GPT& model,
                     const nn::ShardOptions& options) {
  with_memory([&] {
    const GPTConfig& config = model.config;
    const std::string type = model_type(config);
    const bool is_gpt2 = type == kGPT2Type;
    const std::filesystem::path path = folder / "config.json";
    const std::string text = config_text(type, config, stored_dtype(model, options));
    check_kept(type, config, is_gpt2 ? GPT2::config(text, path) : Llama::config(text, path));
    const nn::StateDict state = is_gpt2 ? GPT2::export_state(model.state_dict(), config)
                                        : Llama::export_state(model.state_dict(), config);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) nn::FileName{kSave, folder}.refuse("cannot be made: ", error.message());
    nn::save_safetensors_shards(folder, state, options);
    nn::write_file(path, text, kSave);
  });
}

}  // namespace tend::attention
