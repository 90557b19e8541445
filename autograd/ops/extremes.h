/// \file
/// The largest and smallest elements, and the median.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/dims.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;
struct ValuesAndIndices;
struct Extremes;

///@{
/// maximum (minimum) of two tensors under its short name, with its dtypes, errors and gradients.
Tensor max(const Tensor& self, const Tensor& other);
Tensor min(const Tensor& self, const Tensor& other);
///@}
///@{
/// The largest (smallest) of all elements, 0-d; NaN if there is a NaN, ShapeError where there are
/// no elements. The gradient goes to that element, in even shares where several are equal.
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
///@}
///@{
/// The largest (smallest) along `dim` (IndexError), NaN if there is a NaN, with the int64 index of
/// the first such element; ShapeError along an empty dimension. The gradient goes to that element.
/// max(x, 2) is along dimension 2. Bounds are for clamp_min and clamp_max; a floating one does not
/// compile here.
ValuesAndIndices max(const Tensor& self, Integer dim, Flag keepdim = false);
ValuesAndIndices min(const Tensor& self, Integer dim, Flag keepdim = false);
///@}
///@{
/// The largest (smallest) over `dims` (IndexError, ShapeError for one named twice), or of all
/// elements; NaN if there is a NaN, ShapeError over an empty dimension. The gradient goes to that
/// element, in even shares where several are equal; where the result is NaN, so is the gradient.
Tensor amax(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
Tensor amin(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
///@}
///@{
/// The int64 index of the first of the largest (smallest) elements along `dim` (IndexError);
/// without one, among all elements in row-major order. NaN counts as both; ShapeError where there
/// is nothing to choose from. No gradient.
Tensor argmax(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
Tensor argmin(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
///@}

/// The smallest and the largest along `dim` (IndexError), or of all elements; NaN if there is a
/// NaN, ShapeError where there are no elements. The gradient goes to these elements, in even shares
/// where several are equal; where the result is NaN, so is the gradient.
Extremes aminmax(const Tensor& self, std::optional<Integer> dim = std::nullopt,
                 Flag keepdim = false);

/// The middle one of all elements in ascending order, the lower one of two; NaN if there is a NaN.
/// As in PyTorch, NaN if there are no elements, for int64 the smallest one. The gradient goes to
/// the elements that are equal to it, in even shares.
Tensor median(const Tensor& self);
/// The median along `dim` (IndexError), with the int64 index it has there; ShapeError along an
/// empty dimension. The gradient goes to that element.
/// https://pytorch.org/docs/2.6/generated/torch.median.html
ValuesAndIndices median(const Tensor& self, Integer dim, Flag keepdim = false);

}  // namespace tend
