// What the files of a byte-level BPE say.
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

/// Two neighbours as one number, for tables of pairs.
constexpr std::uint64_t pair_key(TokenId left, TokenId right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

/// A token that is found in a text as a whole, before the text is split.
struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool is_special = false;
  bool is_normalized = false;  // looked for in what the others leave
};

/// Tokens `left` and `right`, side by side, become `merged`.
struct Merge {
  TokenId left = 0, right = 0, merged = 0;
};

/// A token as a file writes it, and its id there.
struct WrittenToken {
  std::string text;
  std::int64_t id = 0;
};

/// What ends a text for GPT-2.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// How GPT-2 splits a text into pieces.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// A regular expression that cuts a text into what it matches and what is between, and which of
/// these are encoded.
struct Split {
  std::string pattern;
  bool keeps_matches = true, keeps_rest = true;

  bool operator==(const Split&) const = default;
};

/// A tokenizer's tokens and rules.
struct TokenizerParts {
  std::vector<std::string> tokens;  // the bytes of each id
  std::vector<AddedToken> added;
  std::vector<Merge> merges;  // the first goes first
  std::vector<Split> splits;  // one after the other
  bool add_prefix_space = false;
  bool ignore_merges = false;  // a piece that is a token stays whole, whatever the merges say
};

/// The texts by their ids. IoError unless the ids are 0, 1, ... to the number of tokens.
std::vector<std::string> in_order_of_ids(const FileName& file, std::vector<WrittenToken> tokens);

/// A vocabulary in JSON, {"text": id, ...}. IoError for what is no object of integers.
std::vector<WrittenToken> read_vocabulary(const FileName& file, const json::Value& vocabulary);

/// The same as JSON, with the ids from 0 on.
nlohmann::ordered_json vocabulary_json(const std::vector<std::string>& texts);

/// The bytes of tokens that are written in GPT-2's characters; those of `added` are written as they
/// are. IoError for other characters.
std::vector<std::string> bytes_of_tokens(const FileName& file,
                                         const std::vector<std::string>& written,
                                         const std::vector<AddedToken>& added);

/// The tokens as files write them: the inverse.
std::vector<std::string> written_tokens(const TokenizerParts& parts);

/// Adds merges to the parts, in their order, between tokens as they are written.
class MergeReader {
 public:
  /// `parts` has its tokens already.
  MergeReader(const FileName& file, const std::vector<std::string>& written, TokenizerParts& parts);

  /// Throws: IoError  - a token, or both together, is not in the vocabulary
  ///                  - an added token would become other bytes than its content, or come from them
  void add(std::string_view left, std::string_view right);
  /// The same for both in one text, "left right". False unless it is two tokens with one space
  /// between; then nothing has changed.
  bool add(std::string_view both);

 private:
  TokenId id_of(std::string_view written) const;

  const FileName& file_;
  TokenizerParts& parts_;
  std::unordered_map<std::string_view, TokenId> ids_;
};

}  // namespace tend::nn
