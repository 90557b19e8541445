// Byte-level byte pair encoding, as in GPT-2, Llama 3 and many other models.
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
  /// True: special tokens in the text become their ids. False: they are ordinary text, which is the
  /// safe choice for text that others wrote.
  Flag allow_special = false;
};

/// The options of train.
struct BytePairTraining {
  /// The number of all tokens: the 256 bytes, the merged tokens, and the special tokens at the end.
  std::int64_t vocab_size = 5000;
  /// A pair must occur at least this many times to be merged.
  std::int64_t min_frequency = 2;
  std::vector<std::string> special_tokens = {"<|endoftext|>"};
};

/// The options of load_tokenizer_json.
struct TokenizerJsonOptions {
  /// True reads a file that has a normalizer. tend does not apply the normalizer, so the ids are
  /// right only for texts that it would not change.
  Flag ignore_normalizer = false;
};

/// A tokenizer: it encodes text to ids, and decodes ids to text.
///
/// Any bytes can be encoded, and decode(encode(text)) returns the text. If the file asks for
/// add_prefix_space, a space is added before each part between added tokens. A tokenizer never
/// changes, so several threads may use one. Copies are cheap.
///
/// Source: https://arxiv.org/abs/1508.07909 and GPT-2's encoder.py, https://github.com/openai/gpt-2
class BytePairEncoding {
 public:
  /// Reads GPT-2's vocab.json and merges.txt (encoder.json and vocab.bpe in its first release).
  ///
  /// The tokens in `special_tokens` are special. So is "<|endoftext|>", if the vocabulary has it.
  ///
  /// Throws, naming the file:
  ///   IoError - the ids are not 0, 1, ...
  ///   IoError - a special token, or a token of a merge, is not in the vocabulary
  ///   IoError - a token is not written in the characters of a byte-level vocabulary
  ///   IoError - a file cannot be read
  static BytePairEncoding load(const std::filesystem::path& vocab_json,
                               const std::filesystem::path& merges_txt,
                               const std::vector<std::string>& special_tokens = {});

  /// Reads Hugging Face's tokenizer.json of a byte-level BPE: its model, added tokens and
  /// pre-tokenizer.
  ///
  /// The last step of the pre-tokenizer must be ByteLevel. Steps of the types Split and Digits may
  /// come before ByteLevel. PCRE2 matches regular expressions. Added tokens that are not special
  /// are found in every text. With `allow_special`, encode returns the ids of Hugging Face's encode
  /// with add_special_tokens = False: truncation, padding and the post-processor have no effect.
  ///
  /// Throws: IoError - a part of the file is wrong or not supported; the message names the part
  static BytePairEncoding load_tokenizer_json(const std::filesystem::path& path,
                                              const TokenizerJsonOptions& options = {});

  /// Learns merges from a text, which is split as GPT-2 splits it.
  ///
  /// The most frequent pair is merged first. Of equally frequent pairs, the one with the smaller
  /// ids comes first. Training ends before `vocab_size` if no pair is frequent enough. It ignores
  /// special tokens in the text.
  ///
  /// Throws:
  ///   Error - vocab_size is less than 256 plus the number of special tokens, or above 2^31 - 1
  ///   Error - min_frequency is below 1
  ///   Error - a special token is empty, not UTF-8, given twice, or equal to another token
  ///   Error - the different words together have 2^32 - 1 bytes or more
  static BytePairEncoding train(std::string_view text, const BytePairTraining& options = {});

  /// Returns the ids of a text.
  ///
  /// Throws: Error - the splitting pattern of a tokenizer.json takes too many steps
  std::vector<std::int64_t> encode(std::string_view text, const EncodeOptions& options = {}) const;

  /// Returns the bytes of the ids, one after the other. A single id may be a part of a character.
  ///
  /// Throws: IndexError - an id is not in the vocabulary
  std::string decode(const std::vector<std::int64_t>& ids) const;

  std::int64_t vocab_size() const noexcept;
  /// Returns the id of the token with these bytes, special or not. Empty if there is no such token.
  std::optional<std::int64_t> token_id(std::string_view bytes) const;
  /// Returns the bytes of the token with this id.
  ///
  /// Throws: IndexError - the id is not in the vocabulary
  const std::string& token_bytes(std::int64_t id) const;

  /// Writes vocab.json and merges.txt, each as write_file does.
  ///
  /// The files do not say which tokens are special: pass them to load() again.
  ///
  /// Throws:
  ///   Error   - the files cannot express the tokenizer: it has another pattern than GPT-2's,
  ///             add_prefix_space, ignore_merges, or added tokens that are not special
  ///   IoError - a file cannot be written
  void save(const std::filesystem::path& vocab_json, const std::filesystem::path& merges_txt) const;
  /// Writes a tokenizer.json, as write_file does.
  ///
  /// Throws: IoError - the file cannot be written
  void save_tokenizer_json(const std::filesystem::path& path) const;

  // A move copies, too, so a moved-from tokenizer still has its tokens.
  BytePairEncoding(const BytePairEncoding&) = default;
  BytePairEncoding& operator=(const BytePairEncoding&) = default;
  ~BytePairEncoding() = default;

 private:
  class Impl;
  explicit BytePairEncoding(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;  // shared by copies
};

}  // namespace tend::nn
