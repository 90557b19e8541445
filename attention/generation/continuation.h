// Sequences that grow, and their logits. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/attention/generation/generate.h>

namespace tend::attention {

class Continuation {
 public:
  /// `model` must outlive it; room is made for `new_tokens` behind the prompts.
  Continuation(const GPT& model, const std::vector<TokenSequence>& prompts, std::int64_t new_tokens,
               bool use_cache);

  /// The logits (sequences, vocab_size) of the tokens that may follow. To be asked for once before
  /// each append.
  Tensor logits();
  /// Adds a token to each sequence.
  void append(const TokenSequence& next);
  /// Sequence i becomes what sequence rows[i] was.
  void reorder(const std::vector<std::int64_t>& rows);

  /// Prompts and what was added, without padding.
  const std::vector<TokenSequence>& sequences() const noexcept { return sequences_; }

 private:
  Tensor padded_tokens() const;
  Tensor padding() const;

  const GPT& model_;
  std::vector<TokenSequence> sequences_;
  std::optional<KVCache> cache_;
  std::vector<std::int64_t> padding_;  // of each sequence; empty where all are of one length
};

}  // namespace tend::attention
