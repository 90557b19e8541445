/// \file
/// Products, and matrices by their diagonals. The products that sum take one dtype, not bool
/// (DTypeError); int64 wraps around. In gradients g is that of the result, @ is matmul, and ^T
/// swaps the last two dimensions.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// self @ other: (..., n, k) and (..., k, m) give (..., n, m), the leading dimensions broadcast. A
/// 1-d tensor is a row (self) or a column (other), without that dimension in the result. Both have
/// one dtype, not bool (DTypeError). ShapeError for 0-d tensors, and names the inner dimensions
/// that differ. For the gradient g of the result that of self is g @ other^T, that of other
/// self^T @ g, summed where they were broadcast.
/// https://pytorch.org/docs/2.6/generated/torch.matmul.html
Tensor matmul(const Tensor& self, const Tensor& other);

/// The sum of self * other, vectors (k) both: a number. As matmul of one dtype (DTypeError);
/// ShapeError for other ranks or lengths that differ. The gradient of self is other, and the other
/// way round.
Tensor dot(const Tensor& self, const Tensor& other);
/// self @ other for matrices: (n, k) and (k, m) give (n, m). As matmul of one dtype (DTypeError);
/// ShapeError for other ranks or sizes that do not fit. With the result's gradient g, the
/// gradients are g @ other^T and self^T @ g.
Tensor mm(const Tensor& self, const Tensor& other);
/// self @ other for a matrix and a vector: (n, k) and (k) give (n). As matmul of one dtype
/// (DTypeError); ShapeError for other ranks or sizes that do not fit. With the result's gradient g,
/// the gradients are outer(g, other) and self^T @ g.
Tensor mv(const Tensor& self, const Tensor& other);
/// self @ other for two batches of matrices, of one size: (b, n, k) and (b, k, m) give (b, n, m).
/// As matmul of one dtype (DTypeError); ShapeError for other ranks or sizes that do not fit. With
/// the result's gradient g, the gradients are g @ other^T and self^T @ g.
Tensor bmm(const Tensor& self, const Tensor& other);

/// out[i][j] = self[i] * other[j] of two vectors; the dtypes promote. ShapeError for other ranks.
/// With the result's gradient g, the gradients are g @ other and g^T @ self.
Tensor outer(const Tensor& self, const Tensor& other);

/// beta * self + alpha * (mat1 @ mat2), of matrices (n, k) and (k, m); self broadcasts to the
/// product (ShapeError, for matrices that do not fit too). All have one dtype, not bool, which
/// holds the factors (DTypeError); int64 takes their whole parts. With beta 0 self counts for
/// nothing, NaN included. With the result's gradient g, the gradients are beta * g,
/// alpha * g @ mat2^T and alpha * mat1^T @ g.
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);

/// beta * self + alpha * (mat @ vec), of a matrix (n, k) and a vector (k); the rules and errors are
/// addmm's. With the result's gradient g, the gradients are beta * g, alpha * outer(g, vec) and
/// alpha * mat^T @ g.
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// beta * self + alpha * (batch1 @ batch2), of batches as bmm takes them; the rules and errors are
/// addmm's. With the result's gradient g, the gradients are beta * g, alpha * g @ batch2^T and
/// alpha * batch1^T @ g.
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta = 1, const Scalar& alpha = 1);
/// beta * self + alpha * (the sum over b of batch1[b] @ batch2[b]), of batches as bmm takes them:
/// self broadcasts to one matrix (n, m); the rules and errors are addmm's. With the result's
/// gradient g, the gradients are beta * g, and of each pair of the batch alpha * g @ batch2[b]^T
/// and alpha * batch1[b]^T @ g.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta = 1, const Scalar& alpha = 1);

/// x @ weight^T + bias: (*, in) and (out, in) give (*, out). The bias may be undefined; otherwise
/// it broadcasts to the result, as (out) does, and is added in one pass with the product.
/// ShapeError where sizes do not fit; all have one dtype, not bool (DTypeError). With the result's
/// gradient g, that of x is g @ weight, that of the weight g^T @ x over all rows, that of the bias
/// the sum of g's rows. https://pytorch.org/docs/2.6/generated/torch.nn.functional.linear.html
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

/// The Kronecker product: every element of self times the whole of other, as blocks. The smaller
/// rank gets dimensions of size 1 in front, sizes multiply, the dtypes promote. ShapeError for more
/// elements than an int64 counts. An element's gradient is the sum of the result's times what it
/// was multiplied by.
/// https://pytorch.org/docs/2.6/generated/torch.kron.html
Tensor kron(const Tensor& self, const Tensor& other);

/// A vector (n) as a diagonal of an otherwise zero square matrix, of n + |diagonal| rows; of a
/// matrix a copy of that diagonal. Any dtype; ShapeError for other ranks. The gradient is the
/// diagonal of the result's, or a matrix with it in the diagonal and zeros elsewhere.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// The last dimension as the elements (i, i + offset) of two new dimensions dim1 and dim2 (of the
/// result), zeros elsewhere. Any dtype; IndexError for a dimension out of range, and for a 0-d
/// tensor, ShapeError for one named twice. The gradient is that diagonal of the result's.
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// The sum of a matrix's main diagonal, 0-d. ShapeError for other ranks, DTypeError for bool. The
/// gradient is 1 on the diagonal, 0 elsewhere.
Tensor trace(const Tensor& self);

}  // namespace tend
