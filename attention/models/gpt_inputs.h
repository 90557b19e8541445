/// \file
/// What a call of a GPT may have besides tokens.
#pragma once

#include <tend/attention/models/kv_cache.h>

namespace tend::attention {

/// What a call of a GPT may have besides tokens.
struct GPTInputs {
  /// The tokens before, whose keys and values are not computed again; it receives those of these.
  KVCache* cache = nullptr;
  /// How many tokens at the left of each sequence are padding, (B,) int64: nobody sees them, and
  /// positions are counted from behind them. With a cache, the same at each call. Logits equal
  /// those without padding but for rounding.
  Tensor padding = {};
  /// Computes the logits of the last token alone, (B, 1, vocab_size), (B, 0, vocab_size) for none.
  Flag last_only = false;
  /// The position of each token, int64 (B, T), or (T) for all sequences, from 0 to context_length -
  /// 1. Unless given, tokens are counted from 0 in each document, or in the row, with what is
  /// cached and without padding. ALiBi's distances are differences of positions; with
  /// PositionKind::none they change nothing. A window counts tokens of the row, whatever their
  /// positions.
  Tensor positions = {};
  /// Several texts in one row: the number of each token's document, int64 (B, T), or (T) for all
  /// sequences. A document is a run of equal numbers, as in masks::document_positions. Tokens see
  /// their own document only. Its logits equal those of the document alone but for rounding.
  Tensor documents = {};
};

}  // namespace tend::attention
