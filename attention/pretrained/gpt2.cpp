#include <tend/attention/pretrained/gpt2.h>

#include <filesystem>
#include <string>

#include <tend/attention/pretrained/checkpoint_layout.h>
#include <tend/attention/pretrained/config_reader.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

#include <nlohmann/json.hpp>

namespace tend::attention {
namespace {

constexpr const char* kGPT2 = "GPT2";

CheckpointLayout gpt2_layout(const GPTConfig& config) {
  if (!config.tied_head)
    fail(kGPT2, "config.tied_head must be true, because GPT-2's head is the token embedding");
  CheckpointLayout layout(kGPT2, /*has_tied_head=*/true);
  layout.add({"wte.weight"}, {"token_embedding.weight"});
  layout.add({"wpe.weight"}, {"position_embedding.weight"});
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    const std::string theirs = "h." + std::to_string(i) + '.';
    const std::string ours = "blocks." + std::to_string(i) + '.';
    const std::string attention = ours + "attention.";
    const auto conv1d = [&](const char* name, const std::vector<std::string>& names) {
      layout.add_weight_and_bias(theirs + name, names, true, /*transposed=*/true);
    };
    layout.add_weight_and_bias(theirs + "ln_1", {ours + "norm1"}, true);
    conv1d("attn.c_attn", {attention + "W_query", attention + "W_key", attention + "W_value"});
    conv1d("attn.c_proj", {attention + "out_proj"});
    layout.add_weight_and_bias(theirs + "ln_2", {ours + "norm2"}, true);
    conv1d("mlp.c_fc", {ours + "feed_forward.up"});
    conv1d("mlp.c_proj", {ours + "feed_forward.down"});
  }
  layout.add_weight_and_bias("ln_f", {"norm"}, true);
  return layout;
}

// The causal masks that old files contain.
bool is_extra(std::string_view name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
}

}  // namespace

GPTConfig GPT2::config(std::string_view json, const std::filesystem::path& path) {
  const nn::FileName file{kGPT2, path};
  const nn::json::Value root = nn::json::parse(file, json);
  const ConfigReader fields(file, root);
  fields.type_among({"gpt2"});
  GPTConfig config;
  config.vocab_size = fields.required_integer("vocab_size");
  config.context_length = fields.required_integer("n_positions");
  config.width = fields.required_integer("n_embd");
  config.num_heads = fields.required_integer("n_head");
  config.num_layers = fields.required_integer("n_layer");
  config.hidden_width = fields.integer("n_inner");
  config.dropout = fields.number("resid_pdrop").value_or(0.1);
  config.attention_dropout = own_dropout(fields, "attn_pdrop", 0.1, config.dropout);
  config.embedding_dropout = own_dropout(fields, "embd_pdrop", 0.1, config.dropout);
  config.norm_eps = fields.number("layer_norm_epsilon").value_or(1e-5);
  config.gelu = gelu_kind(fields, fields.string("activation_function").value_or("gelu_new"));
  config.qkv_bias = true;
  config.tied_head = true;
  if (!fields.boolean("scale_attn_weights").value_or(true) ||
      fields.boolean("scale_attn_by_inverse_layer_idx").value_or(false)) {
    fields.refuse("scores that are not scaled by 1 / sqrt(head_dim) are not supported");
  }
  if (!fields.boolean("tie_word_embeddings").value_or(true)) {
    fields.refuse("a head that is not the token embedding is not supported");
  }
  return config;
}

nn::StateDict GPT2::import_state(const nn::StateDict& tensors, const GPTConfig& config) {
  const nn::StateDict plain = without_prefix(tensors, "transformer.");
  return gpt2_layout(config).import_state(without_extras(plain, is_extra));
}

nn::StateDict GPT2::export_state(const nn::StateDict& state, const GPTConfig& config) {
  return gpt2_layout(config).export_state(state);
}

}  // namespace tend::attention
