/// \file
/// Powers.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

///@{
/// Raises self to the power of the exponent.
///
/// self and the exponent broadcast and promote. A negative power of an integer is truncated if the
/// exponent is a tensor. The gradient of self is exponent * self^(exponent - 1), and 0 for
/// exponent 0. The gradient of the exponent is self^exponent * log(self), and 0 where self is 0 and
/// the exponent is not negative.
///
/// Throws:
///   DTypeError - self and the exponent are both bool
///   Error      - self is an integer tensor and the exponent is a negative number
///   ShapeError - the shapes do not broadcast
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);
///@}
/// Multiplies self by itself.
///
/// The result has self's shape and dtype; bool gives int64. The gradient is 2 self.
Tensor square(const Tensor& self);

}  // namespace tend
