// GPT-2's vocab.json and merges.txt.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// See BytePairEncoding::load.
TokenizerParts read_vocab_files(const std::filesystem::path& vocab_json,
                                const std::filesystem::path& merges_txt,
                                const std::vector<std::string>& special_tokens);

/// See BytePairEncoding::save.
void write_vocab_files(const TokenizerParts& parts, const std::filesystem::path& vocab_json,
                       const std::filesystem::path& merges_txt);

}  // namespace tend::nn
