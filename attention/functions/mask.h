// Attention masks. In a bool mask, true means: may attend.
#pragma once

#include <limits>

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// Query i sees keys 0 to i, (queries, keys) bool: aligned at the top left, as in PyTorch's
/// is_causal.
Tensor causal_mask(std::int64_t queries, std::int64_t keys);

/// The last query sees all keys, the one before it all but the last, ...: what queries that follow
/// cached keys need. Queries that come before the first key see nothing.
Tensor causal_mask_bottom_right(std::int64_t queries, std::int64_t keys);

/// The `mask` buffer of the causal modules: (length, length), 1 above the diagonal. Here 1 means
/// hidden, as in the book.
Tensor future_mask(std::int64_t length);

/// Error, naming the module `owner`, unless `mask` is future_mask of its size.
void check_future_mask(const char* owner, const Tensor& mask);

namespace detail {
/// The score of a key that a query does not see.
inline constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// ShapeError or DTypeError, naming `operation`, where `mask` cannot be applied to scores of that
/// shape.
void check_mask(const char* operation, const Tensor& mask, const Shape& scores);
}  // namespace detail

}  // namespace tend::attention
