/// \file
/// Llama and similar models in the format of Hugging Face's transformers library.
#pragma once

#include <filesystem>
#include <string_view>

#include <tend/attention/models/config.h>
#include <tend/nn/module/state_dict.h>

namespace tend::attention {

/// Reads and writes configurations and weights of LlamaForCausalLM, and of the models with
/// model_type "mistral", "qwen2" and "qwen3". These add a window, biases or norms of heads. Llama
/// is used like GPT2. Touvron et al. 2023, https://arxiv.org/abs/2302.13971.
struct Llama {
  /// Reads a config.json. `path` is the name in messages. The only dropout in these files is
  /// attention_dropout, for attention weights.
  ///
  /// Throws:
  ///   IoError - the text is not a JSON object, lacks a size, or asks for something that a GPT does
  ///             not have
  static GPTConfig config(std::string_view json, const std::filesystem::path& path = "config.json");
  /// Returns the state dict of a GPT with `config` from Llama's tensors.
  ///
  /// Throws:
  ///   Error      - names are missing or unknown; the message lists them
  ///   Error      - the head is tied, but its weight is not the token embedding
  ///   ShapeError - gate and up differ in shape
  static nn::StateDict import_state(const nn::StateDict& tensors, const GPTConfig& config);
  /// The reverse: returns Llama's tensors from the state dict of a GPT, or from gradients under the
  /// same names. If the output head is tied, the state dict may include its weight.
  ///
  /// Throws:
  ///   Error      - names are missing or unknown; the message lists them
  ///   Error      - the head is tied, but its weight is not the token embedding
  ///   ShapeError - the matrix of gate and up cannot be split into equal parts
  static nn::StateDict export_state(const nn::StateDict& state, const GPTConfig& config);
};

}  // namespace tend::attention
