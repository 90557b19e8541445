/// \file
/// GPT-2 as Hugging Face's transformers library keeps it.
#pragma once

#include <filesystem>
#include <string_view>

#include <tend/attention/models/config.h>
#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// GPT2LMHeadModel:
///
///     GPT model(GPT2::config(text_of_config_json));
///     const auto file = nn::load_safetensors("model.safetensors");
///     model.load_state_dict(GPT2::import_state(file.tensors, model.config));
///
/// Its linear layers' weights are stored transposed (Conv1D), query, key and value side by side,
/// and its head is the token embedding. Radford et al. 2019, "Language Models are Unsupervised
/// Multitask Learners".
struct GPT2 {
  /// What a config.json with model_type "gpt2" says. Its resid_pdrop is the dropout, and where
  /// attn_pdrop and embd_pdrop differ from it, they are attention_dropout and embedding_dropout;
  /// each is 0.1 unless given. IoError, which names `path`, for a text that is no JSON object,
  /// lacks a size, or names what a GPT does not have.
  static GPTConfig config(std::string_view json, const std::filesystem::path& path = "config.json");
  /// The state of a GPT with `config` from GPT-2's tensors, with or without the prefix
  /// "transformer.". An Error lists names that are missing or unknown; Error for an lm_head.weight
  /// that is not the token embedding, ShapeError where c_attn cannot be cut into three equal parts.
  static nn::StateDict import_state(const nn::StateDict& tensors, const GPTConfig& config);
  /// The reverse: GPT-2's tensors from a GPT's state, or from gradients under the same names. With
  /// a tied head, the state may have the head's weight or not; Error for another one, and
  /// for a config without a tied head.
  static nn::StateDict export_state(const nn::StateDict& state, const GPTConfig& config);
};

}  // namespace tend::attention
