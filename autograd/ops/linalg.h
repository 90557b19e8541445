// Products.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// torch.matmul: 1-d tensors are vectors, the last two dimensions are matrices, those before
/// broadcast. Both must have the same dtype (DTypeError). ShapeError names the inner dimensions
/// that differ.
Tensor matmul(const Tensor& self, const Tensor& other);

/// The product of two vectors of one length.
Tensor dot(const Tensor& self, const Tensor& other);

}  // namespace tend
