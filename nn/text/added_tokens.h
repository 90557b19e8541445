// Tokens that are found in a text before it is split.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// A set of added tokens, whose texts are kept by others.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// Those of `added` that are taken; the ones that are special only `with_special`.
  AddedTokens(const std::vector<AddedToken>& added, bool with_special);

  struct Match {
    std::size_t begin = 0, end = 0;
    TokenId id = 0;
  };
  /// The first token that occurs at `from` or after it; of those that begin there, the longest.
  std::optional<Match> find(std::string_view text, std::size_t from) const noexcept;

 private:
  std::optional<Match> match_at(std::string_view text, std::size_t at) const noexcept;

  std::vector<const AddedToken*> sorted_;              // by their texts
  std::vector<bool> begins_ = std::vector<bool>(256);  // by the first byte
};

}  // namespace tend::nn
