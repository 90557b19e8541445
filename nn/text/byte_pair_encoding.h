// Byte-level byte pair encoding, as GPT-2, Llama 3 and many others have it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tend/core/base/strict.h>

namespace tend::nn {

/// The options of encode.
struct EncodeOptions {
  /// Whether special tokens in the text become their ids. Otherwise they are text like any other,
  /// which is the safe choice for text that others wrote.
  Flag allow_special = false;
};

struct BytePairTraining {
  /// All tokens: 256 bytes, what merges make, and the special tokens at the end.
  std::int64_t vocab_size = 5000;
  /// How often a pair must occur to be merged.
  std::int64_t min_frequency = 2;
  std::vector<std::string> special_tokens = {"<|endoftext|>"};
};

/// The options of from_tokenizer_json.
struct TokenizerJsonOptions {
  /// Whether a file with a normalizer is read all the same. tend applies none, so the ids are right
  /// for texts that the normalizer would leave alone.
  Flag ignore_normalizer = false;
};

/// A tokenizer: text to ids and back. Any bytes can be encoded, and decode(encode(text)) is the
/// text (with a space before each part between added tokens, where the file asks for
/// add_prefix_space). It never changes, so several threads may use one; copies are cheap. Source:
/// https://arxiv.org/abs/1508.07909 and GPT-2's encoder.py, https://github.com/openai/gpt-2
class BytePairEncoding {
 public:
  /// Reads GPT-2's vocab.json and merges.txt (encoder.json and vocab.bpe in its first release).
  /// `special_tokens`, which the vocabulary must have, and "<|endoftext|>", where it has that, are
  /// special. IoError names the file and what is wrong: ids that are not 0, 1, ..., a byte without
  /// a token, merges of tokens that are not there, ...
  static BytePairEncoding load(const std::filesystem::path& vocab_json,
                               const std::filesystem::path& merges_txt,
                               const std::vector<std::string>& special_tokens = {});

  /// Reads Hugging Face's tokenizer.json of a byte-level BPE: its model, added tokens and
  /// pre-tokenizer (ByteLevel, alone or after Splits by regular expressions, which are read as
  /// PCRE2 does). Added tokens that are not special are found in every text. IoError names a part
  /// that is not supported, and what is wrong. With `allow_special`, ids are those of its encode
  /// with add_special_tokens = False: truncation, padding and the post-processor have no effect.
  static BytePairEncoding load_tokenizer_json(const std::filesystem::path& path,
                                              const TokenizerJsonOptions& options = {});

  /// Learns merges from a text, which is split as GPT-2 splits it: the most frequent pair first,
  /// of equal ones that of the smaller ids. Ends before `vocab_size` when no pair is frequent
  /// enough. Special tokens in the text are left out. Error for a vocabulary that does not hold
  /// the bytes and special tokens, a frequency below 1, special tokens that are empty, not UTF-8,
  /// there twice or what merges make, and 2^32 bytes of different words.
  static BytePairEncoding train(std::string_view text, const BytePairTraining& options = {});

  /// The ids of a text. Error when the splitting pattern of a tokenizer.json takes too many steps.
  std::vector<std::int64_t> encode(std::string_view text, const EncodeOptions& options = {}) const;

  /// The bytes of the ids, one after the other; a single id may be a part of a character.
  /// IndexError for an id that is not in the vocabulary.
  std::string decode(const std::vector<std::int64_t>& ids) const;

  std::int64_t vocab_size() const noexcept;
  /// The id of a token, special or not, from its bytes; nothing when there is none.
  std::optional<std::int64_t> token_id(std::string_view bytes) const;
  /// The inverse. IndexError for an id that is not in the vocabulary.
  const std::string& token_bytes(std::int64_t id) const;

  /// Writes vocab.json and merges.txt, each as write_file does. IoError where that fails; Error for
  /// what they cannot say: another pattern than GPT-2's, add_prefix_space, ignore_merges, added
  /// tokens that are not special. Which tokens are special they do not say, either: load() must be
  /// told again.
  void save(const std::filesystem::path& vocab_json, const std::filesystem::path& merges_txt) const;
  /// Writes a tokenizer.json, as write_file does. IoError where that fails.
  void save_tokenizer_json(const std::filesystem::path& path) const;

  // Moving copies, too: no tokenizer is ever without its tokens.
  BytePairEncoding(const BytePairEncoding&) = default;
  BytePairEncoding& operator=(const BytePairEncoding&) = default;
  ~BytePairEncoding() = default;

 private:
  class Impl;
  explicit BytePairEncoding(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;  // shared by copies
};

}  // namespace tend::nn
