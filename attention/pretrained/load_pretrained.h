// Models from folders.
#pragma once

#include <filesystem>

#include <tend/attention/models/gpt.h>

namespace tend::attention {

/// The model in a folder as Hugging Face's save_pretrained writes it, in evaluation mode:
/// config.json, and model.safetensors or the files that model.safetensors.index.json names. It is
/// read as GPT2 or Llama, as model_type says. IoError for files that are missing or wrong; the
/// errors of config, import_state and load_state_dict.
GPT load_pretrained(const std::filesystem::path& folder);

}  // namespace tend::attention
