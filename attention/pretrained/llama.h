/// \file
/// Llama and its relatives as Hugging Face's transformers library keeps them.
#pragma once

#include <filesystem>
#include <string_view>

#include <tend/attention/models/config.h>
#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// LlamaForCausalLM, and the models with model_type "mistral", "qwen2" and "qwen3", which differ
/// from it by a window, biases and norms of heads; used as GPT2 is. Touvron et al. 2023,
/// https://arxiv.org/abs/2302.13971.
struct Llama {
  /// What a config.json says. Only attention weights have a dropout, attention_dropout. IoError,
  /// which names `path`, for a text that is no JSON object, lacks a size, or names what a GPT does
  /// not have.
  static GPTConfig config(std::string_view json, const std::filesystem::path& path = "config.json");
  /// The state of a GPT with `config` from Llama's tensors. An Error lists names that are missing
  /// or unknown; Error for a tied head that is not the token embedding, ShapeError where gate and
  /// up are not of one height.
  static nn::StateDict import_state(const nn::StateDict& tensors, const GPTConfig& config);
  /// The reverse: Llama's tensors from a GPT's state, or from gradients under the same names. With
  /// a tied head, the state may have the head's weight or not; Error for another one. ShapeError
  /// where gate and up are not of one height.
  static nn::StateDict export_state(const nn::StateDict& state, const GPTConfig& config);
};

}  // namespace tend::attention
