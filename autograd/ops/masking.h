/// \file
/// Choosing elements by a mask, and limiting them by bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/index.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

///@{
/// Selects the elements of self where the condition is true, and the elements of other elsewhere.
///
/// The condition, self and other broadcast. The condition is bool. self and other promote; two
/// numbers give float32 if one of them is floating. The gradient goes to self where the condition
/// is true, and to other elsewhere.
///
/// Throws:
///   DTypeError - the condition is not bool, or the dtype cannot hold a number
///   ShapeError - the shapes do not broadcast
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
///@}
/// Returns the positions of the elements that are not zero, like nonzero_numpy.
///
/// The result has one 1-d int64 tensor for each dimension. No gradient.
std::vector<Tensor> where(const Tensor& condition);

///@{
/// Replaces elements of self by the value where the mask is true.
///
/// self and the mask broadcast. The mask is bool. The value is a number or a 0-d tensor, and is
/// converted to self's dtype. The result has this dtype. The gradient goes to self where the mask
/// is false. The gradient of the value is the sum over the masked elements.
///
/// Throws:
///   DTypeError - the mask is not bool, or self's dtype cannot hold the value
///   ShapeError - the shapes do not broadcast, or the value is a tensor that is not 0-d
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
///@}

/// Copies self with zeros above the given diagonal of the last two dimensions.
///
/// Diagonal 0 is the main one, and 1 is the one above it. The result has self's shape and dtype;
/// any dtype is allowed. The gradient is tril of the result's gradient.
///
/// Throws: ShapeError - self has fewer than two dimensions
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
/// Copies self with zeros below the given diagonal of the last two dimensions.
///
/// Diagonal 0 is the main one, and 1 is the one above it. The result has self's shape and dtype;
/// any dtype is allowed. The gradient is triu of the result's gradient.
///
/// Throws: ShapeError - self has fewer than two dimensions
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

/// Limits every element to the range [lo, hi], as min(max(self, lo), hi).
///
/// Either bound may be left out. The result has self's shape. Floating bounds make integers
/// float32. NaN stays NaN. As in PyTorch, a single bound that is NaN changes nothing; if both
/// bounds are given and one is NaN, all elements become NaN. The gradient is 1 where
/// lo <= self <= hi, and 0 elsewhere.
///
/// Throws:
///   DTypeError - the dtype cannot hold a bound
///   Error      - both bounds are left out
Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo,
             const std::optional<Scalar>& hi = None);
/// Limits every element to the range between two tensors, as min(max(self, lo), hi).
///
/// One of the bounds may be undefined. The tensors broadcast and promote. NaN stays NaN. The
/// gradient goes to self where lo <= self <= hi, to lo where self < lo < hi, and to hi where
/// self > hi or lo > hi. Comparisons with an undefined bound are left out.
///
/// Throws:
///   Error      - both bounds are undefined
///   ShapeError - the shapes do not broadcast
Tensor clamp(const Tensor& self, const Tensor& lo, const Tensor& hi);
///@{
/// Limits every element to the range [lo, hi]: NumPy's name for clamp.
///
/// The shapes, dtypes, gradients and errors are clamp's.
Tensor clip(const Tensor& self, const std::optional<Scalar>& lo,
            const std::optional<Scalar>& hi = None);
Tensor clip(const Tensor& self, const Tensor& lo, const Tensor& hi);
///@}
///@{
/// Limits every element from below, as max(self, lo).
///
/// The shapes, dtypes and errors are the same as for clamp with only lo. The result is NaN where lo
/// is NaN. The gradient goes to self where self >= lo, and to a tensor lo elsewhere.
Tensor clamp_min(const Tensor& self, const Scalar& lo);
Tensor clamp_min(const Tensor& self, const Tensor& lo);
///@}
///@{
/// Limits every element from above, as min(self, hi).
///
/// The shapes, dtypes and errors are the same as for clamp with only hi. The result is NaN where hi
/// is NaN. The gradient goes to self where self <= hi, and to a tensor hi elsewhere.
Tensor clamp_max(const Tensor& self, const Scalar& hi);
Tensor clamp_max(const Tensor& self, const Tensor& hi);
///@}

/// Replaces NaN, inf and -inf by finite numbers.
///
/// NaN becomes `nan`, 0 by default. inf becomes `posinf`, by default the largest finite number of
/// the dtype. -inf becomes `neginf`, by default the lowest finite number. The result has self's
/// shape and dtype; integers and bools are copied unchanged. The gradient is 0 where an element was
/// replaced, and 1 elsewhere.
Tensor nan_to_num(const Tensor& self, std::optional<double> nan = 0,
                  std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);

}  // namespace tend
