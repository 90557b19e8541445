/// \file
/// Elementwise functions of one and of two variables. Those of one variable give self's shape;
/// unless stated, int64 and bool tensors give float32 and every input is allowed. Infinities and
/// NaN are as in IEEE 754 and C's math.h.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// e to the power of self; integers give float32. The gradient is exp(self).
Tensor exp(const Tensor& self);
/// 2 to the power of self; integers give float32. The gradient is log(2) 2^self.
Tensor exp2(const Tensor& self);
/// exp(self) - 1, precise near 0; integers give float32. The gradient is exp(self).
Tensor expm1(const Tensor& self);
/// The natural logarithm: -inf of 0, NaN below it; integers give float32. The gradient is 1 / self.
Tensor log(const Tensor& self);
/// The logarithm to base 2, as log. The gradient is 1 / (self log(2)).
Tensor log2(const Tensor& self);
/// The logarithm to base 10, as log. The gradient is 1 / (self log(10)).
Tensor log10(const Tensor& self);
/// log(1 + self), precise near 0; integers give float32. The gradient is 1 / (1 + self).
Tensor log1p(const Tensor& self);

/// The square root; NaN below 0; integers give float32. The gradient is 1 / (2 sqrt(self)),
/// infinite at 0.
Tensor sqrt(const Tensor& self);
/// 1 / sqrt(self); integers give float32. The gradient is -rsqrt(self)^3 / 2.
Tensor rsqrt(const Tensor& self);

/// The sine of self radians; integers give float32. The gradient is cos(self).
Tensor sin(const Tensor& self);
/// The cosine of self radians; integers give float32. The gradient is -sin(self).
Tensor cos(const Tensor& self);
/// The tangent of self radians; integers give float32. The gradient is 1 + tan(self)^2.
Tensor tan(const Tensor& self);
/// The angle in [-pi/2, pi/2] of sine self; NaN outside [-1, 1]; integers give float32. The
/// gradient is 1 / sqrt(1 - self^2), infinite at -1 and 1.
Tensor asin(const Tensor& self);
/// The angle in [0, pi] of cosine self; NaN outside [-1, 1]; integers give float32. The gradient is
/// -1 / sqrt(1 - self^2), infinite at -1 and 1.
Tensor acos(const Tensor& self);
/// The angle in [-pi/2, pi/2] of tangent self; integers give float32. The gradient is
/// 1 / (1 + self^2).
Tensor atan(const Tensor& self);

/// (exp(self) - exp(-self)) / 2; integers give float32. The gradient is cosh(self).
Tensor sinh(const Tensor& self);
/// (exp(self) + exp(-self)) / 2; integers give float32. The gradient is sinh(self).
Tensor cosh(const Tensor& self);
/// sinh(self) / cosh(self); integers give float32. The gradient is 1 - tanh(self)^2.
Tensor tanh(const Tensor& self);

/// y = 1 / (1 + exp(-self)); integers give float32. The gradient is y (1 - y).
Tensor sigmoid(const Tensor& self);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self; integers give
/// float32. The gradient is 2 / sqrt(pi) exp(-self^2).
Tensor erf(const Tensor& self);
/// 1 - erf(self), precise where that is small; integers give float32. The gradient is
/// -2 / sqrt(pi) exp(-self^2).
Tensor erfc(const Tensor& self);

/// The largest integer that is not above self. int64 stays int64; DTypeError for bool. The gradient
/// is zero.
Tensor floor(const Tensor& self);
/// The smallest integer that is not below self. int64 stays int64; DTypeError for bool. The
/// gradient is zero.
Tensor ceil(const Tensor& self);
/// The nearest integer, the even one of two. int64 stays int64; DTypeError for bool. The gradient
/// is zero.
Tensor round(const Tensor& self);
/// The nearest multiple of 10^-decimals, computed with powers of ten, so that halves may go either
/// way; floating only (DTypeError) unless decimals is 0. The gradient is zero.
/// https://pytorch.org/docs/2.6/generated/torch.round.html
Tensor round(const Tensor& self, std::int64_t decimals);
/// Rounded towards zero. int64 stays int64; DTypeError for bool. The gradient is zero.
Tensor trunc(const Tensor& self);

/// The angle in [-pi, pi] of the point with x = other, y = self, broadcast (ShapeError) and
/// promoted; integers give float32. Signs of zeros count, as in C. The gradient of self is
/// x / (x^2 + y^2), that of other -y / (x^2 + y^2); at the origin both are NaN.
Tensor atan2(const Tensor& self, const Tensor& other);
/// log(exp(self) + exp(other)), without overflow; broadcast (ShapeError) and promoted. One of them
/// is floating (DTypeError). The gradient of self is sigmoid(self - other), that of other
/// sigmoid(other - self); NaN where both are the same infinity.
Tensor logaddexp(const Tensor& self, const Tensor& other);
///@{
/// self * log(other), and 0 where self is 0 (NaN where other is NaN); broadcast (ShapeError) and
/// promoted, integers give float32. The gradient of self is log(other), but 0 where self is 0 and
/// other not positive; that of other is self / other.
Tensor xlogy(const Tensor& self, const Tensor& other);
Tensor xlogy(const Tensor& self, const Scalar& other);
Tensor xlogy(const Scalar& self, const Tensor& other);
///@}

/// log(|gamma(self)|), gamma(n) = (n - 1)!; infinite at 0 and the negative integers. Integers give
/// float32. The gradient is digamma(self).
Tensor lgamma(const Tensor& self);
/// The derivative of lgamma: NaN at the negative integers, infinite at 0. Integers give float32.
/// The gradient is polygamma(1, self).
Tensor digamma(const Tensor& self);
/// The derivative of order n of digamma; Error for n < 0. Integers give float32. NaN below -1e6 for
/// n > 0. The gradient is polygamma(n + 1, self).
/// https://pytorch.org/docs/2.6/generated/torch.special.polygamma.html
Tensor polygamma(std::int64_t n, const Tensor& self);
/// The y with erf(y) = self: infinite at -1 and 1, NaN outside; integers give float32. The gradient
/// is sqrt(pi) / 2 exp(y^2).
Tensor erfinv(const Tensor& self);
/// log(self / (1 - self)), the inverse of sigmoid: NaN outside [0, 1]. With `eps`, self is first
/// clamped to [eps, 1 - eps]. Integers give float32. The gradient is 1 / (self (1 - self)); where
/// self was clamped it is 0, where the result is NaN it is NaN.
Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt);

}  // namespace tend
