// Vocabularies of characters and of words, for simple language models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tend::nn {

/// A list of tokens, with the ids 0, 1, ...
class Vocabulary {
 public:
  std::int64_t vocab_size() const noexcept;
  /// Returns the id of a token. Empty if the vocabulary does not have the token.
  std::optional<std::int64_t> token_id(std::string_view token) const;
  /// Returns the token with this id.
  ///
  /// Throws: IndexError - the id is not in the vocabulary
  const std::string& token(std::int64_t id) const;
  /// Writes a JSON file, {"token": id, ...}, as write_file does.
  ///
  /// Throws: IoError - the file cannot be written
  void save(const std::filesystem::path& path) const;

 protected:
  explicit Vocabulary(std::vector<std::string> tokens);

  // Returns the token of an id. The error names the id's position `at` in a list.
  const std::string& token_at(std::string_view operation, std::int64_t id, std::size_t at) const;

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

/// The characters of a text: its Unicode code points, in ascending order.
class CharVocabulary : public Vocabulary {
 public:
  /// Makes the vocabulary of all characters in a text.
  ///
  /// Throws: Error - the text is not UTF-8
  static CharVocabulary from_text(std::string_view text);
  /// Reads a file that save() wrote.
  ///
  /// Throws: IoError - the ids are not 0, 1, ..., or a token is not a single character
  static CharVocabulary load(const std::filesystem::path& path);

  /// Returns an id for each character.
  ///
  /// Throws: Error - the text is not UTF-8, or a character is not in the vocabulary
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Returns the characters of the ids, one after the other.
  ///
  /// Throws: IndexError - an id is not in the vocabulary
  std::string decode(const std::vector<std::int64_t>& ids) const;

 private:
  using Vocabulary::Vocabulary;
};

/// The words and punctuation marks of a text.
///
/// White space separates tokens. "--" and each of , . : ; ? _ ! " ( ) ' is a separate token. The
/// tokens are sorted by their bytes; "<|endoftext|>" and "<|unk|>" come last.
///
/// Source: SimpleTokenizerV2 in chapter 2 of "Build a Large Language Model (From Scratch)". The ids
/// are the same.
class WordVocabulary : public Vocabulary {
 public:
  /// Makes the vocabulary of all tokens in a text.
  ///
  /// Throws: Error - the text is not UTF-8
  static WordVocabulary from_text(std::string_view text);
  /// Reads a file that save() wrote.
  ///
  /// Throws: IoError - the ids are not 0, 1, ..., or "<|unk|>" is missing
  static WordVocabulary load(const std::filesystem::path& path);

  /// Returns an id for each token. A token that is not in the vocabulary gets the id of "<|unk|>".
  ///
  /// Throws: Error - the text is not UTF-8
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// Returns the tokens of the ids, with spaces between them, except before , . : ; ? ! " ( ) '
  ///
  /// Throws: IndexError - an id is not in the vocabulary
  std::string decode(const std::vector<std::int64_t>& ids) const;

 private:
  using Vocabulary::Vocabulary;
};

}  // namespace tend::nn
