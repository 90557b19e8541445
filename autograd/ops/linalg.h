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

/// Of two vectors: out[i][j] = self[i] * other[j]. The dtypes promote; ShapeError for other ranks.
Tensor outer(const Tensor& self, const Tensor& other);

/// beta * self + alpha * (mat1 @ mat2); self broadcasts to the product (ShapeError) and has its
/// dtype. With beta 0 self counts for nothing, NaN included.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);

/// As addmm, for a matrix and a vector.
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// As addmm, for two batches of matrices as bmm takes them.
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * (the sum of a batch's products): self broadcasts to one matrix.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta = 1, const Scalar& alpha = 1);

/// x @ weight^T + bias: (*, in) and (out, in) give (*, out). The bias may be undefined; otherwise
/// it is added in one pass with the product.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.linear.html
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// The Kronecker product: every element of self times the whole of other, as blocks. The smaller
/// rank gets dimensions of size 1 in front; the dtypes promote.
/// https://pytorch.org/docs/2.6/generated/torch.kron.html
Tensor kron(const Tensor& self, const Tensor& other);

/// A vector as a diagonal of an otherwise empty square matrix; of a matrix a copy of that diagonal.
/// ShapeError for other ranks.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// The last dimension as the elements (i, i + offset) of two new dimensions dim1 and dim2 (of the
/// result), zeros elsewhere.
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// The sum of a matrix's main diagonal. ShapeError for other ranks, DTypeError for bool.
Tensor trace(const Tensor& self);

}  // namespace tend
