// Hugging Face's tokenizer.json.
#pragma once

#include <filesystem>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// See BytePairEncoding::load_tokenizer_json.
TokenizerParts read_tokenizer_json(const std::filesystem::path& path, bool ignore_normalizer);

/// See BytePairEncoding::save_tokenizer_json.
void write_tokenizer_json(const TokenizerParts& parts, const std::filesystem::path& path);

}  // namespace tend::nn
