/// \file
/// Sums of products over named or listed dimensions.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/shape.h>

namespace tend {

/// torch.einsum: the equation names the dimensions of every operand with letters, upper and lower
/// case, and after "->" those of the result. Dimensions of one name are multiplied element by
/// element, and names that the result lacks are summed over:
///
///     einsum("ij,jk->ik", a, b)        the product of two matrices
///     einsum("bhtd,bhsd->bhts", q, k)  the scores of attention
///     einsum("ii->i", a)               a diagonal, as a view
///     einsum("i,j,k->ijk", list)       of a std::vector<Tensor>
///
/// A name that occurs twice in one operand takes its diagonal. An ellipsis "..." stands for the
/// dimensions that an operand has besides the named ones; those of several operands broadcast, and
/// so do named dimensions of size 1. Without "->" the result has the ellipsis and then the names
/// that occur once, in alphabetical order, upper case first. Spaces are ignored.
///
/// Operands are contracted from left to right, by batched matrix products wherever something is
/// summed over; these require operands of one dtype, and not bool (DTypeError). Error for a
/// malformed equation, ShapeError for operands that do not fit it. The gradient of an operand is
/// that of the result times the other operands, summed over the names that the operand lacks.
/// https://pytorch.org/docs/2.6/generated/torch.einsum.html
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);
/// einsum of the operands one by one, as in PyTorch: einsum("ij,jk->ik", a, b).
template <std::convertible_to<Tensor>... Operands>
requires(sizeof...(Operands) > 0) Tensor
    einsum(std::string_view equation, const Operands&... operands) {
  return einsum(equation, std::vector<Tensor>{operands...});
}

/// Products summed over the last `dims` dimensions of a and the first of b; the result has the
/// other dimensions of a, then of b. ShapeError where sizes differ, except for those of 1, which
/// broadcast. Both have one dtype, not bool (DTypeError). The gradient of a is the tensordot of the
/// result's gradient and b over the other dimensions of b; that of b follows by symmetry.
/// https://pytorch.org/docs/2.6/generated/torch.tensordot.html
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims = 2);
/// Products summed over dims_a[i] of a together with dims_b[i] of b, for every i. ShapeError for
/// lists of different lengths and for a dimension named twice, IndexError for one out of range.
/// Everything else, including the gradient, is as for a number of dimensions.
Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a, const Shape& dims_b);

}  // namespace tend
