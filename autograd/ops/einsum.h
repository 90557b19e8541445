/// \file
/// Sums of products over dimensions that are named or listed.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/shape.h>

namespace tend {

/// Computes sums of products over named dimensions, as torch.einsum.
///
/// The equation names the dimensions of every operand with upper-case and lower-case letters. After
/// "->" it names the dimensions of the result. Dimensions with the same name are multiplied element
/// by element. Names that the result lacks are summed over:
///
///     einsum("ij,jk->ik", a, b)        the product of two matrices
///     einsum("bhtd,bhsd->bhts", q, k)  the scores of attention
///     einsum("ii->i", a)               a diagonal, as a view
///     einsum("i,j,k->ijk", list)       three vectors in a std::vector<Tensor>
///
/// A name that occurs twice in one operand selects its diagonal. An ellipsis "..." stands for the
/// dimensions of an operand that have no name. The ellipses of several operands broadcast, and so
/// do named dimensions of size 1. Without "->" the result has the ellipsis, followed by the names
/// that occur once, in alphabetical order with upper case first. Spaces are ignored.
///
/// Operands are combined from left to right. A sum over a dimension that two operands share is
/// computed as batched matrix products. These require operands of one dtype, and not bool.
///
/// The gradient of an operand is the result's gradient times the other operands, summed over the
/// names that the operand lacks.
///
/// Throws:
///   Error      - the equation is malformed, or is for another number of operands
///   ShapeError - an operand does not fit the equation
///   DTypeError - operands of a matrix product differ in dtype, or are bool
///
/// https://pytorch.org/docs/2.6/generated/torch.einsum.html
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);
/// Computes einsum of operands that are given one by one, as in PyTorch: einsum("ij,jk->ik", a, b).
///
/// Shapes, dtypes, errors and gradients are as for a vector of operands.
template <std::convertible_to<Tensor>... Operands>
requires(sizeof...(Operands) > 0) Tensor
    einsum(std::string_view equation, const Operands&... operands) {
  return einsum(equation, std::vector<Tensor>{operands...});
}

/// Sums products over the last `dims` dimensions of a and the first `dims` dimensions of b.
///
/// The result has the other dimensions of a, followed by the other dimensions of b. Sizes of 1
/// broadcast. Both tensors have one dtype, which is not bool. The gradient of a is the tensordot of
/// the result's gradient and b, over the other dimensions of b. The gradient of b is the tensordot
/// of a and the result's gradient, over the other dimensions of a.
///
/// Throws:
///   ShapeError - `dims` is negative, or more than a or b has
///   ShapeError - two sizes differ, and neither is 1
///   DTypeError - the dtypes differ, or are bool
///
/// https://pytorch.org/docs/2.6/generated/torch.tensordot.html
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2);
/// Sums products over dimension dims_a[i] of a together with dimension dims_b[i] of b, for every i.
///
/// The result, the dtypes and the gradients are as for a number of dimensions.
///
/// Throws:
///   ShapeError - the lists differ in length, or name a dimension twice
///   ShapeError - two sizes differ, and neither is 1
///   IndexError - a dimension is out of range
///   DTypeError - the dtypes differ, or are bool
Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a, const Shape& dims_b);

}  // namespace tend
