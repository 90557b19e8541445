// Loads models from folders in Hugging Face's format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <tend/attention/models/gpt.h>

namespace tend::attention {

/// Loads a model from a folder that Hugging Face's save_pretrained wrote, and sets it to evaluation
/// mode.
///
/// It reads config.json, and model.safetensors or the files that model.safetensors.index.json
/// names. model_type says whether GPT2 or Llama reads them (gpt2, llama, mistral, qwen2, qwen3).
/// Parameters are float32, even if the files are in F16 or BF16. Loading advances the default
/// generator, since the model first gets random weights. Nothing is downloaded. Errors of config,
/// import_state and load_state_dict pass through.
///
/// Throws: IoError - the folder does not exist, or a file is missing or wrong
GPT load_pretrained(const std::filesystem::path& folder);

/// The tokens that end a text: eos_token_id of generation_config.json, or of config.json if the
/// first file lacks it. The result may be empty.
///
/// Throws: IoError - the folder does not exist, or a file is missing or wrong
std::vector<std::int64_t> pretrained_stop_tokens(const std::filesystem::path& folder);

}  // namespace tend::attention
