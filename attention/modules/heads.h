// Heads, split and merged. Internal.
#pragma once

#include <tend/autograd/ops/ops.h>

namespace tend::attention {

/// (..., T, heads * head_dim) -> (..., heads, T, head_dim), without a copy.
inline Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(-3, -2);
}

/// (..., heads, T, head_dim) -> (..., T, heads * head_dim).
inline Tensor merge_heads(const Tensor& x) {
  return x.transpose(-3, -2).contiguous().flatten(-2);
}

}  // namespace tend::attention
