/// \file
/// Ready-made mask functions, for flex_attention. They are joined with &&, || and !.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::masks {

/// Query i sees keys 0 to i: aligned at the top left, as scaled_dot_product_attention's is_causal.
MaskFunction causal();

/// The last of `queries` sees all `keys`, the one before it all but the last, ...: causal() for
/// queries that follow cached keys. Other functions are brought there by with_offset(). ShapeError
/// for a negative size, Error where keys - queries does not fit int32.
MaskFunction causal_bottom_right(std::int64_t queries, std::int64_t keys);

/// A query sees itself and the size - 1 keys before it. Error for a size below 1; one beyond int32
/// means all keys before it.
MaskFunction sliding_window(std::int64_t size);

/// All queries see the first `length` keys; the others they see causally. A length beyond int32
/// means all keys, a negative one none.
MaskFunction prefix(std::int64_t length);
/// The same with a length for each batch, `lengths` (B,), int64. ShapeError for another rank,
/// DTypeError for another dtype; in flex_attention ShapeError for another number of batches than B,
/// DTypeError for a length beyond int32.
MaskFunction prefix(const Tensor& lengths);

/// Queries see the keys of their own document: `documents` is its number for each token, int64, (B,
/// T), or (T,) for all batches. Of a longer tensor than there are tokens, the beginning is used.
/// ShapeError for another rank, DTypeError for another dtype; in flex_attention IndexError for
/// tokens beyond T, ShapeError for other than B batches, DTypeError for a number beyond int32.
MaskFunction documents(const Tensor& documents);

/// Queries see the first lengths[batch] keys; `lengths` is (B,), int64, with the errors of prefix.
MaskFunction padding(const Tensor& lengths);

/// Queries see the keys of their own block of `size` tokens. Error for a size below 1; one beyond
/// int32 means one block.
MaskFunction blocks(std::int64_t size);

/// Queries see every `step`-th key, counted from themselves in both directions. Error for a step
/// below 1 or beyond int32.
MaskFunction dilated(std::int64_t step);

/// The position of each token in its document, from 0: what packed sequences need for their
/// position embeddings. `documents` is int64 (DTypeError), (..., T) (ShapeError for 0-d); a
/// document is a run of equal numbers. Gives int64 of the same shape, without a gradient.
Tensor document_positions(const Tensor& documents);

}  // namespace tend::attention::masks
