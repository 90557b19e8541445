// Masks. In all of them true means: may attend.
#pragma once

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

/// Throws Error unless `mask` is future_mask of its size; `owner` names who got it.
void check_future_mask(const char* owner, const Tensor& mask);

namespace detail {
/// ShapeError or DTypeError, in the name of `operation`, where `mask` is none for scores of that
/// shape.
void check_mask(const char* operation, const Tensor& mask, const Shape& scores);
}  // namespace detail

}  // namespace tend::attention
