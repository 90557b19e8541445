/// \file
/// The optional inputs of a GPT.
#pragma once

#include <tend/attention/models/kv_cache.h>

namespace tend::attention {

/// The inputs that a call of a GPT accepts in addition to tokens (B, T).
struct GPTInputs {
  /// The keys and values of earlier tokens, which are then not computed again. The call adds the
  /// keys and values of its own tokens.
  KVCache* cache = nullptr;
  /// The number of padding tokens at the left of each sequence, int64 (B,). No token attends to
  /// padding, and positions are counted from the first token after it. With a cache, pass the same
  /// padding at each call. The logits equal the logits without padding up to rounding.
  Tensor padding = {};
  /// Computes only the logits of the last token: (B, 1, vocab_size), or (B, 0, vocab_size) if there
  /// are no tokens.
  Flag last_only = false;
  /// The position of each token, int64 (B, T), or (T,) for all sequences, from 0 to context_length
  /// - 1.
  ///
  /// By default, tokens are counted from 0: in each document if there are documents, otherwise in
  /// the whole sequence. Cached tokens are counted, padding is not. ALiBi computes distances from
  /// positions. With PositionKind::none, positions have no effect. A window counts tokens of the
  /// sequence and ignores positions.
  Tensor positions = {};
  /// The document of each token, if a sequence contains several: int64 (B, T), or (T,) for all
  /// sequences. A document is a run of equal numbers, as in masks::document_positions. Tokens
  /// attend to their own document only. The logits equal the logits of a call with this document
  /// only, up to rounding.
  Tensor documents = {};
};

}  // namespace tend::attention
