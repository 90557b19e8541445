// Elementwise functions of one and of two variables.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

// int64 and bool tensors give float32, unless stated. Infinities and NaN are as in IEEE 754 and C's
// math.h.

/// e to the power of self.
Tensor exp(const Tensor& self);
/// 2 to the power of self.
Tensor exp2(const Tensor& self);
/// exp(self) - 1, precise near 0.
Tensor expm1(const Tensor& self);
/// The natural logarithm.
Tensor log(const Tensor& self);
/// The logarithm to base 2.
Tensor log2(const Tensor& self);
/// The logarithm to base 10.
Tensor log10(const Tensor& self);
/// log(1 + self), precise near 0.
Tensor log1p(const Tensor& self);

/// The square root; NaN below 0.
Tensor sqrt(const Tensor& self);
/// 1 / sqrt(self)
Tensor rsqrt(const Tensor& self);

/// The sine of self radians.
Tensor sin(const Tensor& self);
/// The cosine of self radians.
Tensor cos(const Tensor& self);
/// The tangent of self radians.
Tensor tan(const Tensor& self);
/// The angle in [-pi/2, pi/2] of sine self; NaN outside [-1, 1]. The gradient is infinite at -1, 1.
Tensor asin(const Tensor& self);
/// The angle in [0, pi] of cosine self; NaN outside [-1, 1]. The gradient is infinite at -1, 1.
Tensor acos(const Tensor& self);
/// The angle in [-pi/2, pi/2] of tangent self.
Tensor atan(const Tensor& self);

/// (exp(self) - exp(-self)) / 2
Tensor sinh(const Tensor& self);
/// (exp(self) + exp(-self)) / 2
Tensor cosh(const Tensor& self);
/// sinh(self) / cosh(self)
Tensor tanh(const Tensor& self);

/// 1 / (1 + exp(-self))
Tensor sigmoid(const Tensor& self);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self.
Tensor erf(const Tensor& self);
/// 1 - erf(self), precise where that is small.
Tensor erfc(const Tensor& self);

// Rounding. int64 stays int64; DTypeError for bool. The gradient is zero.

/// The largest integer that is not above self.
Tensor floor(const Tensor& self);
/// The smallest integer that is not below self.
Tensor ceil(const Tensor& self);
/// To the nearest integer, halves to the even one.
Tensor round(const Tensor& self);
/// Towards zero.
Tensor trunc(const Tensor& self);

// Of two variables, which broadcast (ShapeError) and promote.

/// The angle in [-pi, pi] of the point with x = other, y = self; signs of zeros count, as in C. The
/// gradient at the origin is NaN.
Tensor atan2(const Tensor& self, const Tensor& other);
/// log(exp(self) + exp(other)), without their overflow; one of them is floating (DTypeError). The
/// gradient is NaN where both are the same infinity.
Tensor logaddexp(const Tensor& self, const Tensor& other);
/// self * log(other), and 0 where self is 0 (NaN where other is NaN). The gradient of self is 0
/// where self is 0 and other is not positive.
Tensor xlogy(const Tensor& self, const Tensor& other);
Tensor xlogy(const Tensor& self, const Scalar& other);
Tensor xlogy(const Scalar& self, const Tensor& other);

}  // namespace tend
