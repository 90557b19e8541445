// Learns merges from words and their counts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// A piece of text, and the number of times that it occurs.
struct CountedPiece {
  std::string_view piece;
  std::int64_t count = 0;
};

/// Adds merges to `parts`, until there are `most_tokens` tokens or no pair of neighbours occurs
/// `min_frequency` times.
///
/// At first the tokens of `parts` are the 256 bytes in the order of bytes_in_order(). The most
/// frequent pair is merged first. Of equally frequent pairs, the one with the smaller ids comes
/// first.
///
/// Throws: Error - the pieces together have 2^32 - 1 bytes or more
void learn_merges(TokenizerParts& parts, const std::vector<CountedPiece>& pieces,
                  std::int64_t most_tokens, std::int64_t min_frequency);

}  // namespace tend::nn
