// What the attention modules ask of their inputs.
#pragma once

#include <tend/autograd/tensor.h>

namespace tend::attention {

/// ShapeError naming `module` unless x is (..., T, d_in) with T <= context_length.
inline void check_tokens(const char* module, const Tensor& x, std::int64_t d_in,
                         std::int64_t context_length) {
  if (x.dim() < 2 || x.size(-1) != d_in) {
    fail<ShapeError>(module, "needs input (..., tokens, ", d_in, "), got ", x.shape());
  }
  if (x.size(-2) > context_length) {
    fail<ShapeError>(module, x.size(-2), " tokens in dimension -2 of ", x.shape(),
                     " exceed the context_length of ", context_length);
  }
}

}  // namespace tend::attention
