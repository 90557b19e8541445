// Models from folders, as Hugging Face keeps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <tend/attention/models/gpt.h>

namespace tend::attention {

/// The model in a folder as Hugging Face's save_pretrained writes it, in evaluation mode:
/// config.json, and model.safetensors or the files that model.safetensors.index.json names. It is
/// read as GPT2 or Llama, as model_type says (gpt2, llama, mistral, qwen2, qwen3). Parameters are
/// float32, also of files in F16 or BF16. Random weights are drawn first, so the default generator
/// goes on. Nothing is downloaded: IoError for a folder that is not there, and for files that are
/// missing or wrong; the errors of config, import_state and load_state_dict.
GPT load_pretrained(const std::filesystem::path& folder);

/// The tokens that end a text (eos_token_id): those of generation_config.json or, where there is no
/// such file, or none in it, of config.json. May be none. IoError as above.
std::vector<std::int64_t> pretrained_stop_tokens(const std::filesystem::path& folder);

}  // namespace tend::attention
