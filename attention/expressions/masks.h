/// \file
/// Ready-made mask functions for flex_attention. A mask is true where a query may attend to a key.
/// Combine masks with &&, || and !.
#pragma once

#include <tend/attention/expressions/functions.h>

namespace tend::attention::masks {

/// Query i sees keys 0 to i: aligned at the top left, as with scaled_dot_product_attention's
/// is_causal.
MaskFunction causal();

/// causal() for queries that follow cached keys: aligned at the bottom right.
///
/// The last query sees all keys, the query before it sees all but the last key, and so on. To shift
/// any other function, use with_offset().
///
/// Throws:
///   ShapeError - a size is negative
///   Error      - the difference of keys and queries does not fit int32
MaskFunction causal_bottom_right(std::int64_t queries, std::int64_t keys);

/// A query sees itself and the size - 1 keys before it. A size beyond int32 means all keys before
/// it.
///
/// Throws: Error - the size is below 1
MaskFunction sliding_window(std::int64_t size);

/// Each query sees the first `length` keys, and all keys up to its own position. A length beyond
/// int32 means all keys. A negative length means an empty prefix.
MaskFunction prefix(std::int64_t length);
/// prefix() with a length for each batch. `lengths` is (B), int64.
///
/// Throws:
///   ShapeError - `lengths` does not have one dimension
///   DTypeError - `lengths` is not int64
///   ShapeError - in flex_attention, there are not B batches
///   DTypeError - in flex_attention, a length does not fit int32
MaskFunction prefix(const Tensor& lengths);

/// Queries see only the keys of their document. `documents` is int64, (B, T), or (T) for all
/// batches. It identifies each token's document by a number. If the tensor is longer than the
/// sequence, its beginning is used.
///
/// Throws:
///   ShapeError - `documents` has neither one nor two dimensions
///   DTypeError - `documents` is not int64
///   IndexError - in flex_attention, there are more than T queries or keys
///   ShapeError - in flex_attention, there are not B batches
///   DTypeError - in flex_attention, a number does not fit int32
MaskFunction documents(const Tensor& documents);

/// Queries see the first lengths[batch] keys. `lengths` is (B), int64. Throws the errors of
/// prefix().
MaskFunction padding(const Tensor& lengths);

/// Queries see only the keys of their block of `size` tokens. A size beyond int32 means one block.
///
/// Throws: Error - the size is below 1
MaskFunction blocks(std::int64_t size);

/// Queries see every `step`-th key, counted from their own position in both directions.
///
/// Throws: Error - the step is below 1 or does not fit int32
MaskFunction dilated(std::int64_t step);

/// The position of each token in its document, counted from 0. Position embeddings of packed
/// sequences need these positions.
///
/// `documents` is (..., T), int64. A document is a run of equal numbers. The result is int64, has
/// the same shape, and gets no gradient.
///
/// Throws:
///   DTypeError - `documents` is not int64
///   ShapeError - `documents` has no dimensions
Tensor document_positions(const Tensor& documents);

}  // namespace tend::attention::masks
