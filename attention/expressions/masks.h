/// \file
/// Ready-made mask functions, for flex_attention. They are joined with &&, || and !.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::masks {

/// Query i sees keys 0 to i: aligned at the top left, as scaled_dot_product_attention's is_causal.
MaskFunction causal();

/// The last of `queries` sees all `keys`, the one before it all but the last, ...: what queries
/// that follow cached keys need. ShapeError for a
/// negative size.
MaskFunction causal_bottom_right(std::int64_t queries, std::int64_t keys);

/// A query sees itself and the size - 1 keys before it. Error for a size below 1.
MaskFunction sliding_window(std::int64_t size);

/// All queries see the first `length` keys; the others they see causally.
MaskFunction prefix(std::int64_t length);
/// The same with a length (B,), int64, for each batch.
MaskFunction prefix(const Tensor& lengths);

/// Queries see the keys of their own document. `documents` is int64, (T,) or (B, T): the number of
/// the document that each token belongs to.
MaskFunction documents(const Tensor& documents);

/// Queries see the first lengths[batch] keys; `lengths` is int64, (B,).
MaskFunction padding(const Tensor& lengths);

/// Queries see the keys of their own block of `size` tokens. Error for a size below 1.
MaskFunction blocks(std::int64_t size);

/// Queries see every `step`-th key, counted from themselves in both directions. Error for a step
/// below 1.
MaskFunction dilated(std::int64_t step);

/// The position of each token in its document, from 0: what packed sequences need for their
/// position embeddings. `documents` is int64, (..., T); a document is a run of equal numbers.
Tensor document_positions(const Tensor& documents);

}  // namespace tend::attention::masks
