// Tokens that are found in a text before it is split.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// A set of added tokens, whose texts are kept by others.
class AddedTokenSet {
 public:
  void add(const AddedToken& token);
  /// To be called behind the last add.
  void sort();

  /// Calls of `text` for what lies between tokens, and of `token` for the tokens: the first one,
  /// and of those that begin there the longest; and so on behind it.
  template <class Text, class Token>
  void cut(std::string_view whole, Text text, Token token) const {
    std::size_t done = 0;
    while (const auto match = find(whole, done)) {
      if (match->begin > done) text(whole.substr(done, match->begin - done));
      token(match->id);
      done = match->end;
    }
    if (done < whole.size()) text(whole.substr(done));
  }

 private:
  struct Match {
    std::size_t begin = 0, end = 0;
    TokenId id = 0;
  };
  std::optional<Match> find(std::string_view text, std::size_t from) const noexcept;
  std::optional<Match> match_at(std::string_view text, std::size_t at) const noexcept;

  std::vector<const AddedToken*> sorted_;              // by their texts
  std::vector<bool> begins_ = std::vector<bool>(256);  // by the first byte
};

/// The added tokens of a tokenizer, whose texts are kept by others.
class AddedTokens {
 public:
  /// Those of `added` that are taken; the ones that are special only `with_special`.
  AddedTokens(const std::vector<AddedToken>& added, bool with_special);

  /// Calls of `text` for what lies between tokens, and of `token` for the tokens. Those of
  /// normalized texts are looked for in what lies between the others, as by Hugging Face.
  template <class Text, class Token>
  void cut(std::string_view whole, Text text, Token token) const {
    as_written_.cut(
        whole, [&](std::string_view rest) { normalized_.cut(rest, text, token); }, token);
  }

 private:
  AddedTokenSet as_written_, normalized_;
};

}  // namespace tend::nn
