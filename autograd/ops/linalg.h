/// \file
/// Matrix products, and operations on the diagonals of matrices.
///
/// outer and kron promote the dtypes of their operands. All other products need operands of one
/// dtype, which is not bool, and sums of int64 wrap around. In the formulas for gradients, g is the
/// gradient of the result, @ is matmul, and ^T swaps the last two dimensions.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

namespace detail {
/// An undefined tensor, as the default of an optional parameter.
const Tensor& undefined();
}  // namespace detail

/// Computes the matrix product self @ other.
///
/// (..., n, k) and (..., k, m) give (..., n, m). The leading dimensions broadcast. A 1-d self
/// counts as a row, and a 1-d other as a column; the result lacks that dimension. Both have one
/// dtype, which is not bool. With the result's gradient g, the gradient of self is g @ other^T and
/// the gradient of other is self^T @ g, summed over broadcast dimensions.
///
/// Throws:
///   ShapeError - a tensor is 0-d
///   ShapeError - the inner dimensions differ, or the leading dimensions do not broadcast
///   DTypeError - the dtypes differ, or are bool
///
/// https://pytorch.org/docs/2.6/generated/torch.matmul.html
Tensor matmul(const Tensor& self, const Tensor& other);

/// Computes the dot product of two vectors.
///
/// Both have shape (k) and one dtype, which is not bool. The result is 0-d. With the result's
/// gradient g, the gradient of self is g * other, and the gradient of other is g * self.
///
/// Throws:
///   ShapeError - a tensor is not 1-d, or the lengths differ
///   DTypeError - the dtypes differ, or are bool
Tensor dot(const Tensor& self, const Tensor& other);
/// Computes the product self @ other of two matrices.
///
/// (n, k) and (k, m) give (n, m). Both have one dtype, which is not bool. With the result's
/// gradient g, the gradient of self is g @ other^T, and the gradient of other is self^T @ g.
///
/// Throws:
///   ShapeError - a tensor is not 2-d, or the inner dimensions differ
///   DTypeError - the dtypes differ, or are bool
Tensor mm(const Tensor& self, const Tensor& other);
/// Computes the product self @ other of a matrix and a vector.
///
/// (n, k) and (k) give (n). Both have one dtype, which is not bool. With the result's gradient g,
/// the gradient of self is outer(g, other), and the gradient of other is self^T @ g.
///
/// Throws:
///   ShapeError - self is not 2-d, other is not 1-d, or the inner dimensions differ
///   DTypeError - the dtypes differ, or are bool
Tensor mv(const Tensor& self, const Tensor& other);
/// Computes the products self @ other of two batches of matrices.
///
/// (b, n, k) and (b, k, m) give (b, n, m). Both have one dtype, which is not bool. With the
/// result's gradient g, the gradient of self is g @ other^T, and the gradient of other is self^T @
/// g.
///
/// Throws:
///   ShapeError - a tensor is not 3-d, or the sizes do not fit
///   DTypeError - the dtypes differ, or are bool
Tensor bmm(const Tensor& self, const Tensor& other);

/// Computes the outer product of two vectors: out[i][j] = self[i] * other[j].
///
/// (n) and (m) give (n, m). The dtypes promote. With the result's gradient g, the gradient of self
/// is g @ other, and the gradient of other is g^T @ self.
///
/// Throws: ShapeError - a tensor is not 1-d
Tensor outer(const Tensor& self, const Tensor& other);

/// Computes beta * self + alpha * (mat1 @ mat2).
///
/// The matrices are (n, k) and (k, m), and self broadcasts to their product (n, m). All have one
/// dtype, which is not bool and can hold beta and alpha; int64 truncates them. With beta 0, self is
/// ignored, even where it is NaN.
///
/// Let g be the result's gradient. The gradient of self is beta * g. The gradient of mat1 is
/// alpha * g @ mat2^T, and the gradient of mat2 is alpha * mat1^T @ g.
///
/// Throws:
///   ShapeError - mat1 or mat2 is not 2-d, or their inner dimensions differ
///   ShapeError - self does not broadcast to the product
///   DTypeError - the dtypes differ, or are bool
///   DTypeError - the dtype cannot hold beta or alpha
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);

/// Computes beta * self + alpha * (mat @ vec).
///
/// The matrix is (n, k) and the vector (k), and self broadcasts to their product (n). All have one
/// dtype, which is not bool and can hold beta and alpha; int64 truncates them. With beta 0, self is
/// ignored, even where it is NaN.
///
/// Let g be the result's gradient. The gradient of self is beta * g. The gradient of mat is alpha *
/// outer(g, vec), and the gradient of vec is alpha * mat^T @ g.
///
/// Throws:
///   ShapeError - mat is not 2-d, vec is not 1-d, or their inner dimensions differ
///   ShapeError - self does not broadcast to the product
///   DTypeError - the dtypes differ, or are bool
///   DTypeError - the dtype cannot hold beta or alpha
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// Computes beta * self + alpha * (batch1 @ batch2), for two batches of matrices.
///
/// The batches are (b, n, k) and (b, k, m), and self broadcasts to their product (b, n, m). All
/// have one dtype, which is not bool and can hold beta and alpha; int64 truncates them. With beta
/// 0, self is ignored, even where it is NaN.
///
/// Let g be the result's gradient. The gradient of self is beta * g. The gradient of batch1 is
/// alpha * g @ batch2^T, and the gradient of batch2 is alpha * batch1^T @ g.
///
/// Throws:
///   ShapeError - batch1 or batch2 is not 3-d, or their sizes do not fit
///   ShapeError - self does not broadcast to the product
///   DTypeError - the dtypes differ, or are bool
///   DTypeError - the dtype cannot hold beta or alpha
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
               const Scalar& beta = 1, const Scalar& alpha = 1);
/// Computes beta * self + alpha * (the sum over b of batch1[b] @ batch2[b]).
///
/// The batches are (b, n, k) and (b, k, m), and self broadcasts to one matrix (n, m). All have one
/// dtype, which is not bool and can hold beta and alpha; int64 truncates them. With beta 0, self is
/// ignored, even where it is NaN.
///
/// Let g be the result's gradient. The gradient of self is beta * g. The gradient of batch1[b] is
/// alpha * g @ batch2[b]^T, and the gradient of batch2[b] is alpha * batch1[b]^T @ g.
///
/// Throws:
///   ShapeError - batch1 or batch2 is not 3-d, or their sizes do not fit
///   ShapeError - self does not broadcast to the product
///   DTypeError - the dtypes differ, or are bool
///   DTypeError - the dtype cannot hold beta or alpha
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
              const Scalar& beta = 1, const Scalar& alpha = 1);

/// Computes x @ weight^T + bias, the linear layer of a network.
///
/// x (*, in) and weight (out, in) give (*, out); a weight (in) gives (*). The bias may be
/// undefined. Otherwise it broadcasts to the result; usually it is (out). All have one dtype, which
/// is not bool. The bias is added in one pass with the product.
///
/// Let g be the result's gradient. The gradient of x is g @ weight. The gradient of the weight is
/// g^T @ x over all rows. The gradient of the bias is the sum of g's rows.
///
/// Throws:
///   ShapeError - the weight is neither 1-d nor 2-d
///   ShapeError - x is 0-d, or its last dimension differs from the weight's
///   ShapeError - the bias does not broadcast to the result
///   DTypeError - the dtypes differ, or are bool
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.linear.html
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = detail::undefined());

/// Computes the Kronecker product: every element of self times the whole of other, as blocks.
///
/// The tensor of smaller rank gets leading dimensions of size 1. Sizes multiply, and dtypes
/// promote. The gradient of an element is the sum of the result's gradient times the elements by
/// which this element is multiplied.
///
/// Throws: ShapeError - the result has more elements than an int64 can count
///
/// https://pytorch.org/docs/2.6/generated/torch.kron.html
Tensor kron(const Tensor& self, const Tensor& other);

/// Makes a matrix from its diagonal, or returns the diagonal of a matrix.
///
/// A vector (n) gives a square matrix of n + |diagonal| rows, with the vector on that diagonal and
/// zeros elsewhere. A matrix gives a copy of that diagonal. self may have any dtype. The gradient
/// of a vector is that diagonal of the result's gradient. The gradient of a matrix has the result's
/// gradient on the diagonal, and zeros elsewhere.
///
/// Throws: ShapeError - self is neither 1-d nor 2-d
Tensor diag(const Tensor& self, std::int64_t diagonal = 0);
/// Makes matrices that have the last dimension of self on a diagonal, and zeros elsewhere.
///
/// Self's elements go to the positions (i, i + offset) of two new dimensions dim1 and dim2 of the
/// result. self may have any dtype. The gradient is that diagonal of the result's gradient.
///
/// Throws:
///   IndexError - dim1 or dim2 is out of range, or self is 0-d
///   ShapeError - dim1 and dim2 are the same
///   ShapeError - the offset is too large
Tensor diag_embed(const Tensor& self, std::int64_t offset = 0, std::int64_t dim1 = -2,
                  std::int64_t dim2 = -1);
/// Computes the sum of a matrix's main diagonal.
///
/// The result is 0-d. self may have any dtype but bool. The gradient is 1 on the diagonal, and 0
/// elsewhere.
///
/// Throws:
///   ShapeError - self is not a matrix
///   DTypeError - self is bool
Tensor trace(const Tensor& self);

}  // namespace tend
