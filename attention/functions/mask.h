// Attention masks. In a bool mask, true means that a query may attend to a key.
#pragma once

#include <limits>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// A causal mask (queries, keys), bool: true where query i may attend to key j, that is j <= i. It
/// is aligned at the top left, as in PyTorch's is_causal.
Tensor causal_mask(std::int64_t queries, std::int64_t keys);

/// A causal mask (queries, keys), bool, aligned at the bottom right: true where j <= i + keys -
/// queries.
///
/// The last query sees all keys, the query before it all but the last key, and so on. Queries that
/// follow cached keys need this mask. If there are more queries than keys, the first ones see
/// nothing.
Tensor causal_mask_bottom_right(std::int64_t queries, std::int64_t keys);

/// The `mask` buffer of the causal modules in attention/book: (length, length), 1 above the
/// diagonal and 0 elsewhere. Its polarity is the opposite of other masks: 1 means hidden, as in the
/// book.
Tensor future_mask(std::int64_t length);

/// Checks that `mask` is the future_mask of its size. `owner` is the module that the message names.
///
/// Throws: Error - `mask` differs from future_mask
void check_future_mask(const char* owner, const Tensor& mask);

namespace detail {
/// The score of a key that a query may not attend to.
inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Checks that `mask` can be applied to scores of this shape. An undefined mask can.
///
/// Throws:
///   ShapeError - the mask does not broadcast to the scores
///   DTypeError - the mask is int64
void check_mask(const char* operation, const Tensor& mask, const Shape& scores);
}  // namespace detail

}  // namespace tend::attention
