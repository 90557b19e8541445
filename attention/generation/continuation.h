// Growing sequences, and the logits of their next tokens. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

class Continuation {
 public:
  /// `model` must outlive this object. The constructor makes room for `new_tokens` after the
  /// prompts.
  Continuation(const GPT& model, const std::vector<TokenSequence>& prompts, std::int64_t new_tokens,
               bool use_cache);

  /// The logits (sequences, vocab_size) of the next tokens. Call it once before each append.
  Tensor logits();
  /// Adds a token to each sequence.
  void append(const TokenSequence& next);
  /// Replaces sequence i by sequence rows[i].
  void reorder(const std::vector<std::int64_t>& rows);

  /// The prompts with the added tokens, without padding.
  const std::vector<TokenSequence>& sequences() const noexcept { return sequences_; }

 private:
  Tensor padded_tokens() const;
  Tensor padding() const;

  const GPT& model_;
  std::vector<TokenSequence> sequences_;
  std::optional<KVCache> cache_;
  std::vector<std::int64_t> padding_;  // padding tokens of each sequence; empty if there are none
};

}  // namespace tend::attention
