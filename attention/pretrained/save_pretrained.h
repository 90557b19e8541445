// Saves models to folders in Hugging Face's format.
#pragma once

#include <filesystem>

#include <tend/attention/models/gpt.h>
#include <tend/nn/files/safetensors.h>

namespace tend::attention {

/// Writes config.json and the weights of a model to a folder, so that load_pretrained and Hugging
/// Face's transformers can read it. The folder is created if it does not exist.
///
/// A model with learned positions is written as GPT-2. Another model is written as the first of
/// these types that fits: Qwen 3 if heads have norms, Mistral if there is a window, Qwen 2 if only
/// query, key and value have biases, and Llama. Llama's files store only the dropout of attention
/// weights. The other dropouts, which matter only in training, are lost. transformers itself does
/// not accept a Llama whose width is not a multiple of its number of heads. eos_token_id is null,
/// since a model does not know it. Other files in the folder, such as generation_config.json, stay.
///
/// Each file appears whole or not at all, as in save_safetensors_shards. An old config.json is
/// removed before the first weights change, and the new one is written last. So a mixture of two
/// models is never read. Errors of save_safetensors_shards and export_state pass through.
///
/// Throws:
///   Error - files of this model_type cannot store the configuration; the message lists the
///           settings, and nothing was written
void save_pretrained(const std::filesystem::path& folder, const GPT& model,
                     const nn::ShardOptions& options = {});

}  // namespace tend::attention
