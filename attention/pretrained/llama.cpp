#include <tend/attention/pretrained/llama.h>

#include <filesystem>
#include <string>

#include <tend/attention/pretrained/checkpoint_layout.h>
#include <tend/attention/pretrained/config_reader.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

#include <nlohmann/json.hpp>

namespace tend::attention {
namespace {

constexpr const char* kLlama = "Llama";

void add_block(CheckpointLayout& layout, const GPTConfig& config, const std::string& theirs,
               const std::string& ours) {
  const auto weight_and_bias = [&](const std::string& from, const std::string& to, bool has_bias) {
    layout.add_weight_and_bias(theirs + from, {ours + to}, has_bias);
  };
  weight_and_bias("input_layernorm", "norm1", false);
  weight_and_bias("self_attn.q_proj", "attention.W_query", config.qkv_bias);
  weight_and_bias("self_attn.k_proj", "attention.W_key", config.qkv_bias);
  weight_and_bias("self_attn.v_proj", "attention.W_value", config.qkv_bias);
  weight_and_bias("self_attn.o_proj", "attention.out_proj", config.out_bias);
  if (config.qk_norm) {
    layout.add({theirs + "self_attn.q_norm.weight"}, {ours + "attention.query_norm"});
    layout.add({theirs + "self_attn.k_norm.weight"}, {ours + "attention.key_norm"});
  }
  weight_and_bias("post_attention_layernorm", "norm2", false);
  const auto gate_and_up = [&](const std::string& end) {
    layout.add({theirs + "mlp.gate_proj" + end, theirs + "mlp.up_proj" + end},
               {ours + "feed_forward.up" + end});
  };
  gate_and_up(".weight");
  if (config.feed_forward_bias) gate_and_up(".bias");
  weight_and_bias("mlp.down_proj", "feed_forward.down", config.feed_forward_bias);
}

CheckpointLayout llama_layout(const GPTConfig& config) {
  CheckpointLayout layout(kLlama, config.tied_head);
  layout.add({"model.embed_tokens.weight"}, {"token_embedding.weight"});
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    add_block(layout, config, "model.layers." + std::to_string(i) + '.',
              "blocks." + std::to_string(i) + '.');
  }
  layout.add({"model.norm.weight"}, {"norm.weight"});
  if (!config.tied_head) layout.add({"lm_head.weight"}, {"head.weight"});
  return layout;
}

// Refuses models whose layers differ. If there are layer types, all must be `wanted`.
void refuse_differing_layers(const ConfigReader& json, std::string_view wanted) {
  if (json.boolean("use_sliding_window").value_or(false)) {
    json.refuse("use_sliding_window, a window in some layers, is not supported");
  }
  const nn::json::Value* types = json.find("layer_types");
  if (types == nullptr || types->is_null()) return;
  if (!types->is_array()) json.refuse("'layer_types' is not an array");
  for (const nn::json::Value& each : *types) {
    if (each != wanted) json.refuse("layer_types other than ", wanted, " are not supported");
  }
}

// Newer files have these values in rope_parameters. Older ones have them in rope_scaling and at the
// top level.
RotaryOptions rotary_options(const ConfigReader& json) {
  const auto newer = json.object("rope_parameters");
  const auto section = newer ? newer : json.object("rope_scaling");
  RotaryOptions rotary;
  rotary.theta = json.number("rope_theta").value_or(rotary.theta);
  for (const ConfigReader* each : {&json, section ? &*section : nullptr}) {
    if (each != nullptr && each->number("partial_rotary_factor").value_or(1.0) != 1.0) {
      json.refuse("a partial_rotary_factor is not supported");
    }
  }
  if (!section) return rotary;
  for (const nn::json::Value& each : section->members()) {
    if (each.is_object()) json.refuse("rope_parameters that differ by layer are not supported");
  }
  rotary.theta = section->number("rope_theta").value_or(rotary.theta);
  const auto named = section->string("rope_type");
  const auto older = named ? named : section->string("type");
  if (!older && section->find("factor") != nullptr) json.refuse("a factor needs a rope_type");
  const std::string type = older.value_or("default");
  if (type == "default") return rotary;
  if (type != "linear" && type != "llama3") {
    json.refuse("the rope_type '", type, "' is not supported");
  }
  const auto factor = section->number("factor");
  if (!factor) json.refuse("the rope_type '", type, "' needs a factor");
  rotary.scaling.factor = *factor;
  if (type == "linear") return rotary;
  rotary.scaling.low_frequency = section->number("low_freq_factor").value_or(1.0);
  rotary.scaling.high_frequency = section->number("high_freq_factor").value_or(4.0);
  rotary.scaling.original_context =
      section->integer("original_max_position_embeddings").value_or(8192);
  return rotary;
}

void set_activation(const ConfigReader& json, GPTConfig& config) {
  const std::string activation = json.string("hidden_act").value_or("silu");
  config.feed_forward = FeedForwardKind::swiglu;
  if (activation == "silu") return;
  config.feed_forward = FeedForwardKind::geglu;
  config.gelu = gelu_kind(json, activation);
}

// Sets what differs between Llama and the similar models.
void set_family(const std::string& type, const ConfigReader& json, GPTConfig& config) {
  const bool has_choice = type == "llama" || type == "qwen3";
  const bool bias = has_choice && json.boolean("attention_bias").value_or(false);
  config.qkv_bias = type == "qwen2" || bias;
  config.out_bias = bias;
  config.feed_forward_bias = type == "llama" && json.boolean("mlp_bias").value_or(false);
  config.qk_norm = type == "qwen3";
  // If the file lacks a value, transformers' default is used. null means that there is no value.
  const auto size = [&](const char* name, std::int64_t otherwise) {
    return json.find(name) ? json.integer(name) : otherwise;
  };
  if (type == "mistral") config.window = size("sliding_window", 4096);
  if (type != "llama")
    config.num_kv_heads = size("num_key_value_heads", type == "mistral" ? 8 : 32);
  if (type == "qwen3") config.head_dim = size("head_dim", 128);
  refuse_differing_layers(json, config.window ? "sliding_attention" : "full_attention");
}

}  // namespace

GPTConfig Llama::config(std::string_view json, const std::filesystem::path& path) {
  const nn::FileName file{kLlama, path};
  const nn::json::Value root = nn::json::parse(file, json);
  const ConfigReader fields(file, root);
  const std::string type = fields.type_among({"llama", "mistral", "qwen2", "qwen3"});
  GPTConfig config;
  config.vocab_size = fields.required_integer("vocab_size");
  config.context_length = fields.required_integer("max_position_embeddings");
  config.width = fields.required_integer("hidden_size");
  config.num_heads = fields.required_integer("num_attention_heads");
  config.num_layers = fields.required_integer("num_hidden_layers");
  config.hidden_width = fields.required_integer("intermediate_size");
  config.num_kv_heads = fields.integer("num_key_value_heads");
  config.head_dim = fields.integer("head_dim");
  config.attention_dropout = own_dropout(fields, "attention_dropout", 0.0, config.dropout);
  config.norm = NormKind::rms;
  config.norm_eps = fields.number("rms_norm_eps").value_or(1e-6);
  config.positions = PositionKind::rotary;
  config.rotary = rotary_options(fields);
  config.tied_head = fields.boolean("tie_word_embeddings").value_or(false);
  set_activation(fields, config);
  set_family(type, fields, config);
  return config;
}

nn::StateDict Llama::import_state(const nn::StateDict& tensors, const GPTConfig& config) {
  const auto is_extra = [](auto name) { return name.ends_with(".rotary_emb.inv_freq"); };
  return llama_layout(config).import_state(without_extras(tensors, is_extra));
}

nn::StateDict Llama::export_state(const nn::StateDict& state, const GPTConfig& config) {
  return llama_layout(config).export_state(state);
}

}  // namespace tend::attention
