// Merges learnt from words and their counts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// A piece of text, and how often it occurs.
struct CountedPiece {
  std::string_view piece;
  std::int64_t count = 0;
};

/// Adds merges to `parts`, whose tokens are the 256 bytes in their order, until there are
/// `most_tokens` tokens or no pair of neighbours occurs `min_frequency` times. The most frequent
/// pair goes first, and of equal ones that of the smaller ids. Error for pieces of 2^32 bytes.
void learn_merges(TokenizerParts& parts, const std::vector<CountedPiece>& pieces,
                  std::int64_t most_tokens, std::int64_t min_frequency);

}  // namespace tend::nn
