/// \file
/// Powers.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

///@{
/// self to the power of exponent, broadcast (ShapeError) and promoted; not for two bools
/// (DTypeError). An integer to a negative power is truncated; if the exponent is a number, it is an
/// Error. The gradient of self is exponent * self^(exponent - 1), 0 for exponent 0; that of the
/// exponent is self^exponent * log(self), 0 where self is 0 and exponent >= 0.
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);
///@}
/// self * self; bool gives int64. The gradient is 2 self.
Tensor square(const Tensor& self);

}  // namespace tend
