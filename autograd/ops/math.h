// Elementwise functions of one variable.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

// int64 and bool tensors give float32, unless stated. Infinities and NaN are as in IEEE 754 and C's
// math.h.

Tensor exp(const Tensor& self);
/// exp(self) - 1, precise near 0.
Tensor expm1(const Tensor& self);
/// The natural logarithm.
Tensor log(const Tensor& self);
/// log(1 + self), precise near 0.
Tensor log1p(const Tensor& self);

Tensor sqrt(const Tensor& self);
/// 1 / sqrt(self)
Tensor rsqrt(const Tensor& self);

Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);
Tensor tan(const Tensor& self);
Tensor tanh(const Tensor& self);

/// 1 / (1 + exp(-self))
Tensor sigmoid(const Tensor& self);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self.
Tensor erf(const Tensor& self);

// Rounding. int64 stays int64; DTypeError for bool. The gradient is zero.

Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
/// To the nearest integer, halves to the even one.
Tensor round(const Tensor& self);
/// Towards zero.
Tensor trunc(const Tensor& self);

}  // namespace tend
