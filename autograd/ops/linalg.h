/// \file
/// Matrix products, and operations on the diagonals of matrices. Products that sum (all but outer
/// and kron) need operands of one dtype, not bool (DTypeError); int64 wraps around. In the formulas
/// for gradients, g is the gradient of the result, @ is matmul, and ^T swaps the last two
/// dimensions.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

namespace detail {
/// The default of a parameter that may be missing.
const Tensor& undefined();
}  // namespace detail

/// self @ other: (..., n, k) and (..., k, m) give (..., n, m), the leading dimensions broadcast. A
/// 1-d tensor counts as a row (self) or a column (other); the result lacks that dimension. Both
/// have one dtype, not bool (DTypeError). ShapeError for 0-d tensors, and for inner dimensions that
/// differ. With the result's gradient g, that of self is g @ other^T and that of other is
/// self^T @ g, summed over broadcast dimensions.
/// https://pytorch.org/docs/2.6/generated/torch.matmul.html
Tensor matmul(const Tensor& self, const Tensor& other);

/// The sum of self * other for two vectors (k): a 0-d tensor. One dtype, as for matmul
/// (DTypeError); ShapeError for other ranks or lengths that differ. The gradient of self is other,
/// and vice versa.
Tensor dot(const Tensor& self, const Tensor& other);
/// self @ other for matrices: (n, k) and (k, m) give (n, m). One dtype, as for matmul (DTypeError);
/// ShapeError for other ranks or sizes that do not fit. With the result's gradient g, the gradients
/// are g @ other^T and self^T @ g.
Tensor mm(const Tensor& self, const Tensor& other);
/// self @ other for a matrix and a vector: (n, k) and (k) give (n). One dtype, as for matmul
/// (DTypeError); ShapeError for other ranks or sizes that do not fit. With the result's gradient g,
/// the gradients are outer(g, other) and self^T @ g.
Tensor mv(const Tensor& self, const Tensor& other);
/// self @ other for two batches of b matrices: (b, n, k) and (b, k, m) give (b, n, m). One dtype,
/// as for matmul (DTypeError); ShapeError for other ranks or sizes that do not fit. With the
/// result's gradient g, the gradients are g @ other^T and self^T @ g.
Tensor bmm(const Tensor& self, const Tensor& other);

/// out[i][j] = self[i] * other[j] of two vectors; the dtypes promote. ShapeError for other ranks.
/// With the result's gradient g, the gradients are g @ other and g^T @ self.
Tensor outer(const Tensor& self, const Tensor& other);

/// beta * self + alpha * (mat1 @ mat2), of matrices (n, k) and (k, m); self broadcasts to the
/// product (ShapeError, also for matrices that do not fit). All have one dtype, not bool, which
/// must be able to hold beta and alpha (DTypeError); int64 truncates them. With beta 0 self is
/// ignored, even where it is NaN. With the result's gradient g, the gradients are beta * g,
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
/// gradient g, the gradient of self is beta * g, that of batch1[b] alpha * g @ batch2[b]^T and that
/// of batch2[b] alpha * batch1[b]^T @ g.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta = 1, const Scalar& alpha = 1);

/// x @ weight^T + bias: (*, in) and (out, in) give (*, out), and a weight (in) gives (*). The bias
/// may be undefined; otherwise it broadcasts to the result, as (out) does, and is added in one pass
/// with the product. ShapeError where sizes do not fit; all have one dtype, not bool (DTypeError).
/// With the result's gradient g, that of x is g @ weight, that of the weight g^T @ x over all rows,
/// and that of the bias the sum of g's rows.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.linear.html
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = detail::undefined());

/// The Kronecker product: every element of self times the whole of other, as blocks. The tensor of
/// smaller rank gets leading dimensions of size 1; sizes multiply, and dtypes promote. ShapeError
/// for more elements than an int64 counts. The gradient of an element is the result's, times the
/// elements that it was multiplied by, summed.
/// https://pytorch.org/docs/2.6/generated/torch.kron.html
Tensor kron(const Tensor& self, const Tensor& other);

/// For a vector (n), a square matrix of n + |diagonal| rows with the vector on that diagonal and
/// zeros elsewhere; for a matrix, a copy of that diagonal. Any dtype; ShapeError for other ranks.
/// The gradient of a vector is that diagonal of the result's; that of a matrix has the result's on
/// the diagonal and zeros elsewhere.
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// Puts the last dimension on a diagonal, the elements (i, i + offset) of two new dimensions dim1
/// and dim2 of the result, with zeros elsewhere. Any dtype; IndexError for a dimension out of range
/// and for a 0-d tensor, ShapeError if dim1 and dim2 are the same. The gradient is that diagonal of
/// the result's.
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// The sum of a matrix's main diagonal, 0-d. ShapeError for other ranks, DTypeError for bool. The
/// gradient is 1 on the diagonal, 0 elsewhere.
Tensor trace(const Tensor& self);

}  // namespace tend
