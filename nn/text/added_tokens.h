// Tokens that are found in a text before it is split.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <tend/nn/text/tokenizer_parts.h>

namespace tend::nn {

/// A set of added tokens. The caller owns the tokens, which must outlive the set.
class AddedTokenSet {
 public:
  void add(const AddedToken& token) {
    auto& tokens = by_first_byte_[static_cast<unsigned char>(token.content[0])];
    const auto is_longer = [](const AddedToken* a, const AddedToken* b) {
      return a->content.size() > b->content.size();
    };
    tokens.insert(std::upper_bound(tokens.begin(), tokens.end(), &token, is_longer), &token);
    is_empty_ = false;
  }

  /// Finds the tokens in a text. Calls `token` for each, and `text` for the parts between them.
  ///
  /// The search finds the token that begins first. If several tokens begin there, it finds the
  /// longest one. Then it continues after this token.
  template <class Text, class Token>
  void cut(std::string_view whole, Text text, Token token) const {
    std::size_t done = 0;
    for (std::size_t at = 0; !is_empty_ && at < whole.size();) {
      const AddedToken* const found = find_at(whole.substr(at));
      if (found == nullptr) {
        ++at;
        continue;
      }
      if (at > done) text(whole.substr(done, at - done));
      token(found->id);
      done = at += found->content.size();
    }
    if (done < whole.size()) text(whole.substr(done));
  }

 private:
  const AddedToken* find_at(std::string_view text) const noexcept {
    for (const AddedToken* token : by_first_byte_[static_cast<unsigned char>(text[0])])
      if (text.starts_with(token->content)) return token;
    return nullptr;
  }

  std::array<std::vector<const AddedToken*>, 256> by_first_byte_;  // the longest first
  bool is_empty_ = true;
};

/// The added tokens of a tokenizer. The caller owns the tokens, which must outlive the object.
class AddedTokens {
 public:
  /// Adds the tokens of `added`; the special ones only if `with_special`.
  AddedTokens(const std::vector<AddedToken>& added, bool with_special) {
    for (const AddedToken& token : added) {
      if (token.is_special && !with_special) continue;
      (token.is_normalized ? normalized_ : as_written_).add(token);
    }
  }

  /// Finds the tokens in a text. Calls `token` for each, and `text` for the parts between them.
  ///
  /// As in Hugging Face's tokenizers, normalized tokens are found last, in the parts between the
  /// other tokens.
  template <class Text, class Token>
  void cut(std::string_view whole, Text text, Token token) const {
    as_written_.cut(
        whole, [&](std::string_view rest) { normalized_.cut(rest, text, token); }, token);
  }

 private:
  AddedTokenSet as_written_, normalized_;
};

}  // namespace tend::nn
