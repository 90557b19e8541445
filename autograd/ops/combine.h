/// \file
/// Operations on three tensors, element by element.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// self + value * tensor1 * tensor2, all three broadcast (ShapeError) and promoted. DTypeError for
/// bools, for a floating value when all are integers, and for one that the dtype cannot hold. The
/// gradients are 1, value * tensor2 and value * tensor1.
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
/// self + value * tensor1 / tensor2, all three broadcast (ShapeError) and promoted. One of tensor1
/// and tensor2 is floating, and the dtype holds the value (DTypeError). The gradients are 1,
/// value / tensor2 and -value * tensor1 / tensor2^2.
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);

///@{
/// self + weight * (end - self), computed so that weight 0 gives exactly self and weight 1 exactly
/// end, if both are finite. All broadcast (ShapeError) and have one floating dtype, which must be
/// able to hold a weight that is a number (DTypeError). The gradients are 1 - weight, weight and
/// end - self.
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
///@}

}  // namespace tend
