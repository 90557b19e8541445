/// \file
/// GPT-2 in the format of Hugging Face's transformers library.
#pragma once

#include <filesystem>
#include <string_view>

#include <tend/attention/models/config.h>
#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// Reads and writes configurations and weights of GPT2LMHeadModel:
///
///     GPT model(GPT2::config(text_of_config_json));
///     const auto file = nn::load_safetensors("model.safetensors");
///     model.load_state_dict(GPT2::import_state(file.tensors, model.config));
///
/// In the files, the weights of linear layers are transposed (Conv1D). Query, key and value are one
/// matrix, and the output head is the token embedding. Radford et al. 2019, "Language Models are
/// Unsupervised Multitask Learners".
struct GPT2 {
  /// Reads a config.json with model_type "gpt2". `path` is the name in messages.
  ///
  /// resid_pdrop becomes dropout. If attn_pdrop or embd_pdrop differs from resid_pdrop, it becomes
  /// attention_dropout or embedding_dropout. The default of all three is 0.1.
  ///
  /// Throws:
  ///   IoError - the text is not a JSON object, lacks a size, or asks for something that a GPT does
  ///             not have
  static GPTConfig config(std::string_view json, const std::filesystem::path& path = "config.json");
  /// Returns the state dict of a GPT with `config` from GPT-2's tensors, with or without the prefix
  /// "transformer.".
  ///
  /// Throws:
  ///   Error      - names are missing or unknown; the message lists them
  ///   Error      - lm_head.weight is not the token embedding
  ///   ShapeError - c_attn cannot be split into three equal parts
  static nn::StateDict import_state(const nn::StateDict& tensors, const GPTConfig& config);
  /// The reverse: returns GPT-2's tensors from the state dict of a GPT, or from gradients under the
  /// same names. The state dict may include the weight of the tied head.
  ///
  /// Throws:
  ///   Error - names are missing or unknown; the message lists them
  ///   Error - the head's weight is not the token embedding, or `config` has no tied head
  static nn::StateDict export_state(const nn::StateDict& state, const GPTConfig& config);
};

}  // namespace tend::attention
