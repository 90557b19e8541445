/// \file
/// Operations on three tensors, element by element.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// Computes self + value * tensor1 * tensor2, element by element.
///
/// The three tensors broadcast, and their dtypes promote. The gradient of self is 1, the gradient
/// of tensor1 is value * tensor2, and the gradient of tensor2 is value * tensor1.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - all tensors are bool
///   DTypeError - value is floating, and no tensor is
///   DTypeError - the dtype cannot hold value
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
/// Computes self + value * tensor1 / tensor2, element by element.
///
/// The three tensors broadcast, and their dtypes promote. tensor1 or tensor2 is floating. The
/// gradient of self is 1. The gradient of tensor1 is value / tensor2, and the gradient of tensor2
/// is -value * tensor1 / tensor2^2.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - neither tensor1 nor tensor2 is floating
///   DTypeError - the dtype cannot hold value
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);

///@{
/// Interpolates linearly between self and end: self + weight * (end - self).
///
/// Weight 0 gives exactly self and weight 1 exactly end, if both are finite. All tensors broadcast
/// and have one floating dtype. The gradient of self is 1 - weight, the gradient of end is weight,
/// and the gradient of the weight is end - self.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the tensors do not have one floating dtype
///   DTypeError - the weight is a number that the dtype cannot hold
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
///@}

}  // namespace tend
