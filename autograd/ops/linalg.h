// Products.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// torch.matmul: 1-d tensors are vectors, the last two dimensions are matrices, those before
/// broadcast. Both must have the same dtype (DTypeError). ShapeError names the inner dimensions
/// that differ.
Tensor matmul(const Tensor& self, const Tensor& other);

// As matmul, for one case each; ShapeError for tensors of other ranks.

/// Two vectors of one length: a number.
Tensor dot(const Tensor& self, const Tensor& other);
/// Two matrices.
Tensor mm(const Tensor& self, const Tensor& other);
/// A matrix and a vector.
Tensor mv(const Tensor& self, const Tensor& other);
/// Two batches of matrices, of one size: (b, n, k) and (b, k, m) give (b, n, m).
Tensor bmm(const Tensor& self, const Tensor& other);

/// beta * self + alpha * (mat1 @ mat2); self broadcasts to the product (ShapeError) and has its
/// dtype. With beta 0 self counts for nothing, NaN included.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);

/// x @ weight^T + bias: (*, in) and (out, in) give (*, out). The bias may be undefined; otherwise
/// it is added in one pass with the product.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.linear.html
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace tend
