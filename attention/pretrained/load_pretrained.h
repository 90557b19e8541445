// Models from folders, and into them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <tend/attention/models/gpt.h>
#include <tend/nn/files/safetensors.h>

namespace tend::attention {

/// The model in a folder as Hugging Face's save_pretrained writes it, in evaluation mode:
/// config.json, and model.safetensors or the files that model.safetensors.index.json names. It is
/// read as GPT2 or Llama, as model_type says (gpt2, llama, mistral, qwen2, qwen3). Parameters are
/// float32, also of files in F16 or BF16. Random weights are drawn first, so the default generator
/// goes on. Nothing is downloaded: IoError for a folder that is not there, and for files that are
/// missing or wrong; the errors of config, import_state and load_state_dict.
GPT load_pretrained(const std::filesystem::path& folder);

/// Writes config.json and the weights into a folder, which is made where there is none, so that
/// load_pretrained and Hugging Face's transformers read the model: as GPT-2 where its positions are
/// learned, else as a Llama, or as the Mistral, Qwen 2 or Qwen 3 whose window, biases or norms of
/// heads it has. An Error lists the settings of GPTConfig that files of this model_type do not
/// have, before anything is written. A Llama's file knows no dropout but that of attention weights;
/// the others, which matter in training alone, are not kept; and transformers itself refuses a
/// Llama whose width is no multiple of its heads. eos_token_id is null, as a model does not know
/// it; other files of the folder, such as generation_config.json, stay. Each file appears whole or
/// not at all, as save_safetensors_shards has it. An old config.json goes before the first weights
/// change, and the new one comes last, so that no mixture of two models is read. Errors are those
/// of save_safetensors_shards and export_state.
void save_pretrained(const std::filesystem::path& folder, const GPT& model,
                     const nn::ShardOptions& options = {});

/// The tokens that end a text (eos_token_id): those of generation_config.json or, where there is no
/// such file, or none in it, of config.json. May be none. IoError as above.
std::vector<std::int64_t> pretrained_stop_tokens(const std::filesystem::path& folder);

}  // namespace tend::attention
