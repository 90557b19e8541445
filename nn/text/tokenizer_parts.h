// The content of the files of a byte-level BPE.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tend/nn/files/file_name.h>
#include <tend/nn/files/json.h>

namespace tend::nn {

/// The position of a token in a vocabulary.
using TokenId = std::uint32_t;

/// Returns two neighbours as one number, for tables of pairs.
constexpr std::uint64_t pair_key(TokenId left, TokenId right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

/// A token that is found in a text as a whole, before the text is split.
struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool is_special = false;
  bool is_normalized = false;  // found after the others, in the text between them
};

/// A rule: the neighbours `left` and `right` become `merged`.
struct Merge {
  TokenId left = 0, right = 0, merged = 0;
};

/// A token as a file writes it, and its id there.
struct WrittenToken {
  std::string text;
  std::int64_t id = 0;
};

/// GPT-2's token for the end of a text.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// The pattern by which GPT-2 splits a text into pieces.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// A regular expression that cuts a text into matches and the rest between them. The two flags say
/// whether the matches are encoded, and whether the rest is.
struct Split {
  std::string pattern;
  bool keeps_matches = true, keeps_rest = true;

  bool operator==(const Split&) const = default;
};

/// A tokenizer's tokens and rules.
struct TokenizerParts {
  std::vector<std::string> tokens;  // the bytes of each id
  std::vector<AddedToken> added;
  std::vector<Merge> merges;  // an earlier one is applied first
  std::vector<Split> splits;  // applied one after the other
  bool add_prefix_space = false;
  bool ignore_merges = false;  // true: a piece that is a token needs no merges to become the token
};

/// Returns the texts in the order of their ids.
///
/// Throws: IoError - the ids are not 0, 1, ... without gaps, or there are too many tokens
std::vector<std::string> in_order_of_ids(const FileName& file, std::vector<WrittenToken> tokens);

/// Reads a vocabulary in JSON: {"text": id, ...}.
///
/// Throws: IoError - the vocabulary is not an object of integers
std::vector<WrittenToken> read_vocabulary(const FileName& file, const json::Value& vocabulary);

/// Returns a vocabulary in JSON. The ids are 0, 1, ...
nlohmann::ordered_json vocabulary_json(const std::vector<std::string>& texts);

/// Returns the bytes of each token. Ordinary tokens are written in GPT-2's characters, tokens of
/// `added` as they are.
///
/// Throws: IoError - an ordinary token is empty or has other characters
std::vector<std::string> bytes_of_tokens(const FileName& file,
                                         const std::vector<std::string>& written,
                                         const std::vector<AddedToken>& added);

/// Returns the tokens as files write them: the inverse of bytes_of_tokens.
std::vector<std::string> written_tokens(const TokenizerParts& parts);

/// Adds the merges of a file, in their order, to a tokenizer's parts.
class MergeReader {
 public:
  /// `parts` must have its tokens already. `written` has the same tokens as the file writes them.
  MergeReader(const FileName& file, const std::vector<std::string>& written, TokenizerParts& parts);

  /// Adds the merge of `left` and `right`, as the file writes them.
  ///
  /// Throws:
  ///   IoError - one of the two tokens, or the merged token, is not in the vocabulary
  ///   IoError - the bytes of the merged token are not the bytes of both parts, since one of the
  ///             three is an added token
  void add(std::string_view left, std::string_view right);
  /// Adds the merge of a text "left right". Returns false, and changes nothing, unless the text has
  /// exactly one space.
  bool add(std::string_view both);

 private:
  TokenId id_of(std::string_view written) const;

  const FileName& file_;
  TokenizerParts& parts_;
  std::unordered_map<std::string_view, TokenId> ids_;
};

}  // namespace tend::nn
