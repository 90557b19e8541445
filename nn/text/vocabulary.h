// Vocabularies of characters and of words: what a first language model is trained with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tend::nn {

/// Tokens with the ids 0, 1, ...
class Vocabulary {
 public:
  std::int64_t vocab_size() const noexcept;
  /// The id of a token; nothing when the vocabulary does not have it.
  std::optional<std::int64_t> token_id(std::string_view token) const;
  /// The inverse. IndexError for an id that is not in the vocabulary.
  const std::string& token(std::int64_t id) const;
  /// Writes {"token": id, ...}, as write_file does. IoError where that fails.
  void save(const std::filesystem::path& path) const;

 protected:
  explicit Vocabulary(std::vector<std::string> tokens);

  // The token of the id at position `at` of a list.
  const std::string& token_at(std::string_view operation, std::int64_t id, std::size_t at) const;

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

/// The characters of a text: Unicode code points, in their order.
class CharVocabulary : public Vocabulary {
 public:
  /// Error for a text that is not UTF-8; so do encode and WordVocabulary's functions.
  static CharVocabulary from_text(std::string_view text);
  /// Reads what save wrote. IoError for ids that are not 0, 1, ... and for a token that is no
  /// single character.
  static CharVocabulary load(const std::filesystem::path& path);

  /// An id for each character. Error for one that is not in the vocabulary.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// The characters, one after the other. IndexError for an id that is not in the vocabulary.
  std::string decode(const std::vector<std::int64_t>& ids) const;

 private:
  using Vocabulary::Vocabulary;
};

/// The words of a text, and what stands between them: white space separates tokens, "--" and each
/// of , . : ; ? _ ! " ( ) ' is a token. They are sorted by their bytes, and behind them come
/// "<|endoftext|>" and "<|unk|>". Source: SimpleTokenizerV2 in chapter 2 of "Build a Large Language
/// Model (From Scratch)", whose ids it has.
class WordVocabulary : public Vocabulary {
 public:
  static WordVocabulary from_text(std::string_view text);
  /// Reads what save wrote. IoError for ids that are not 0, 1, ... and where "<|unk|>" is missing.
  static WordVocabulary load(const std::filesystem::path& path);

  /// An id for each token, that of "<|unk|>" for those that are not in the vocabulary.
  std::vector<std::int64_t> encode(std::string_view text) const;
  /// The tokens with spaces between, but none before , . : ; ? ! " ( ) '. IndexError for an id that
  /// is not in the vocabulary.
  std::string decode(const std::vector<std::int64_t>& ids) const;

 private:
  using Vocabulary::Vocabulary;
};

}  // namespace tend::nn
