// Models into folders, as Hugging Face keeps them.
#pragma once

#include <filesystem>

#include <tend/attention/models/gpt.h>
#include <tend/nn/files/safetensors.h>

namespace tend::attention {

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

}  // namespace tend::attention
