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
/// Returns the larger (max) or smaller (min) element of two tensors, as maximum and minimum.
///
/// The inputs broadcast, and their dtypes promote. The result is NaN where either input is NaN. The
/// gradient goes to the chosen element. Two equal elements get half of the gradient each. Where one
/// is NaN, both get the whole gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
Tensor max(const Tensor& self, const Tensor& other);
Tensor min(const Tensor& self, const Tensor& other);
///@}
///@{
/// Returns the largest (max) or smallest (min) of all elements.
///
/// The result is 0-d and has self's dtype. It is NaN if any element is NaN. The gradient goes to
/// the chosen element, in even shares if several are equal.
///
/// Throws: ShapeError - self has no elements
Tensor max(const Tensor& self);
Tensor min(const Tensor& self);
///@}
///@{
/// Returns the largest (max) or smallest (min) elements along `dim`, and their int64 indices.
///
/// The results lack `dim`, or have size 1 there with keepdim. A value is NaN if an element is NaN;
/// the index is then the index of the first NaN. The gradient goes to the element at the index.
///
/// An integer as the second argument is always a dimension: max(x, 2) is along dimension 2. For a
/// bound use clamp_min or clamp_max; a floating number does not compile here.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - dimension `dim` is empty
ValuesAndIndices max(const Tensor& self, Integer dim, Flag keepdim = false);
ValuesAndIndices min(const Tensor& self, Integer dim, Flag keepdim = false);
///@}
///@{
/// Returns the largest (amax) or smallest (amin) elements over `dims`, or of all elements.
///
/// The result lacks `dims`, or has size 1 there with keepdim. It has self's dtype. It is NaN where
/// any of the elements to choose from is NaN. The gradient goes to the chosen element, in even
/// shares if several are equal. Where the result is NaN, the gradient is NaN, too.
///
/// Throws:
///   IndexError - a dimension is out of range
///   ShapeError - a dimension appears twice
///   ShapeError - a dimension that is reduced is empty
Tensor amax(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
Tensor amin(const Tensor& self, const Dims& dims = {}, Flag keepdim = false);
///@}
///@{
/// Returns the int64 index of the largest (argmax) or smallest (argmin) element along `dim`.
///
/// Without `dim` it is the index among all elements in row-major order. If several elements are
/// equal, it is the index of the first. NaN counts as the largest and as the smallest. The result
/// lacks `dim`, or has size 1 there with keepdim. No gradient.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - there is no element to choose from
Tensor argmax(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
Tensor argmin(const Tensor& self, std::optional<Integer> dim = std::nullopt, Flag keepdim = false);
///@}

/// Returns the smallest and the largest elements along `dim`, or of all elements.
///
/// The results lack `dim`, or have size 1 there with keepdim. They have self's dtype. They are NaN
/// if any element is NaN. The gradient goes to the chosen elements, in even shares if several are
/// equal. Where a result is NaN, the gradient is NaN, too.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - there is no element to choose from
Extremes aminmax(const Tensor& self, std::optional<Integer> dim = std::nullopt,
                 Flag keepdim = false);

/// Returns the median of all elements; for an even count, the lower of the two middle elements.
///
/// The result is 0-d and has self's dtype. It is NaN if any element is NaN. As in PyTorch, the
/// median of no elements is NaN, and for int64 the smallest int64. The gradient goes to the
/// elements that are equal to the median, in even shares.
Tensor median(const Tensor& self);
/// Returns the medians along `dim`, and their int64 indices.
///
/// For an even count, the median is the lower of the two middle elements. It is NaN if any of the
/// elements along `dim` is NaN. The results lack `dim`, or have size 1 there with keepdim. The
/// gradient goes to the element at the index.
///
/// Throws:
///   IndexError - `dim` is out of range
///   ShapeError - dimension `dim` is empty
///
/// https://pytorch.org/docs/2.6/generated/torch.median.html
ValuesAndIndices median(const Tensor& self, Integer dim, Flag keepdim = false);

}  // namespace tend
