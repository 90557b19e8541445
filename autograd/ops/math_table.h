// The table of math.h. row_forms.h explains the rows.
// clang-format off
// (clang-format would format products as pointers.)

/// Computes e to the power of self.
///
/// The result has self's shape; int64 and bool give float32. The gradient is exp(self).
TEND_UNARY(exp, "ExpBackward0", floating, kernels::exp, result, grad * result)
/// Computes 2 to the power of self.
///
/// The result has self's shape; int64 and bool give float32. The gradient is log(2) 2^self.
TEND_UNARY(exp2, "Exp2Backward0", floating, kernels::exp2, result, grad * result * std::numbers::ln2)
/// Computes exp(self) - 1, precisely also near 0.
///
/// The result has self's shape; int64 and bool give float32. The gradient is exp(self).
TEND_UNARY(expm1, "Expm1Backward0", floating, kernels::expm1, result, grad * (result + 1))
/// Computes 2^self - 1, precisely also near 0.
///
/// The result has self's shape; int64 and bool give float32. The gradient is log(2) 2^self.
TEND_UNARY(exp2m1, "Exp2m1Backward", floating, kernels::exp2m1, result,
           grad * (result + 1) * std::numbers::ln2)
/// Computes the natural logarithm.
///
/// The result has self's shape; int64 and bool give float32. It is -inf at 0, and NaN below 0. The
/// gradient is 1 / self.
TEND_UNARY(log, "LogBackward0", floating, kernels::log, self, grad / self)
/// Computes the logarithm to base 2.
///
/// The result has self's shape; int64 and bool give float32. It is -inf at 0, and NaN below 0. The
/// gradient is 1 / (self log(2)).
TEND_UNARY(log2, "Log2Backward0", floating, kernels::log2, self, grad / (self * std::numbers::ln2))
/// Computes the logarithm to base 10.
///
/// The result has self's shape; int64 and bool give float32. It is -inf at 0, and NaN below 0. The
/// gradient is 1 / (self log(10)).
TEND_UNARY(log10, "Log10Backward0", floating, kernels::log10, self,
           grad / (self * std::numbers::ln10))
/// Computes log(1 + self), precisely also near 0.
///
/// The result has self's shape; int64 and bool give float32. The gradient is 1 / (1 + self).
TEND_UNARY(log1p, "Log1PBackward0", floating, kernels::log1p, self, grad / (self + 1))

/// Computes the terms of an entropy, -self log(self).
///
/// The result has self's shape; int64 and bool give float32. It is 0 at 0, and -inf below 0. The
/// entropy of attention patterns is entr(weights).sum(-1). The gradient is -1 - log(self).
///
/// https://pytorch.org/docs/2.6/special.html#torch.special.entr
TEND_UNARY(entr, "SpecialEntrBackward0", floating, entr_kernel, self, grad * (-1 - log(self)))

/// Computes the square root.
///
/// The result has self's shape; int64 and bool give float32. It is NaN below 0. The gradient is 1 /
/// (2 sqrt(self)), infinite at 0.
TEND_UNARY(sqrt, "SqrtBackward0", floating, kernels::sqrt, result, grad / (2 * result))
/// Computes 1 / sqrt(self).
///
/// The result has self's shape; int64 and bool give float32. The gradient is -rsqrt(self)^3 / 2.
TEND_UNARY(rsqrt, "RsqrtBackward0", floating, kernels::rsqrt, result,
           -0.5 * grad * (result * result * result))

/// Computes the sine of an angle in radians.
///
/// The result has self's shape; int64 and bool give float32. The gradient is cos(self).
TEND_UNARY(sin, "SinBackward0", floating, kernels::sin, self, grad * cos(self))
/// Computes the cosine of an angle in radians.
///
/// The result has self's shape; int64 and bool give float32. The gradient is -sin(self).
TEND_UNARY(cos, "CosBackward0", floating, kernels::cos, self, grad * -sin(self))
/// Computes the tangent of an angle in radians.
///
/// The result has self's shape; int64 and bool give float32. The gradient is 1 + tan(self)^2.
TEND_UNARY(tan, "TanBackward0", floating, kernels::tan, result, grad * (1 + result * result))
/// Computes the arcsine, an angle in [-pi/2, pi/2].
///
/// The result has self's shape; int64 and bool give float32. It is NaN outside [-1, 1]. The
/// gradient is 1 / sqrt(1 - self^2), infinite at -1 and 1.
TEND_UNARY(asin, "AsinBackward0", floating, kernels::asin, self, grad * arc_slope(self))
/// Computes the arccosine, an angle in [0, pi].
///
/// The result has self's shape; int64 and bool give float32. It is NaN outside [-1, 1]. The
/// gradient is -1 / sqrt(1 - self^2), infinite at -1 and 1.
TEND_UNARY(acos, "AcosBackward0", floating, kernels::acos, self, -grad * arc_slope(self))
/// Computes the arctangent, an angle in [-pi/2, pi/2].
///
/// The result has self's shape; int64 and bool give float32. The gradient is 1 / (1 + self^2).
TEND_UNARY(atan, "AtanBackward0", floating, kernels::atan, self, grad / (self * self + 1))

/// Computes the hyperbolic sine, (exp(self) - exp(-self)) / 2.
///
/// The result has self's shape; int64 and bool give float32. The gradient is cosh(self).
TEND_UNARY(sinh, "SinhBackward0", floating, kernels::sinh, self, grad * cosh(self))
/// Computes the hyperbolic cosine, (exp(self) + exp(-self)) / 2.
///
/// The result has self's shape; int64 and bool give float32. The gradient is sinh(self).
TEND_UNARY(cosh, "CoshBackward0", floating, kernels::cosh, self, grad * sinh(self))
/// Computes the hyperbolic tangent, sinh(self) / cosh(self).
///
/// The result has self's shape; int64 and bool give float32. The gradient is 1 - tanh(self)^2.
TEND_UNARY(tanh, "TanhBackward0", floating, kernels::tanh, result,
           grad_enabled() ? grad * (1 - result * result)
                          : fused(kernels::tanh_backward, grad, result))

/// Computes the logistic function, 1 / (1 + exp(-self)).
///
/// The result has self's shape; int64 and bool give float32. With the result y, the gradient is y
/// (1 - y).
TEND_UNARY(sigmoid, "SigmoidBackward0", floating, kernels::sigmoid, result,
           grad_enabled() ? grad * (1 - result) * result
                          : fused(kernels::sigmoid_backward, grad, result))
/// Computes the error function.
///
/// The result has self's shape; int64 and bool give float32. It is 2 / sqrt(pi) times the integral
/// of exp(-t^2) from 0 to self. The gradient is 2 / sqrt(pi) exp(-self^2).
TEND_UNARY(erf, "ErfBackward0", floating, kernels::erf, self,
           grad * (2 * std::numbers::inv_sqrtpi) * exp(-(self * self)))
/// Computes 1 - erf(self), precisely also where the result is small.
///
/// The result has self's shape; int64 and bool give float32. The gradient is -2 / sqrt(pi)
/// exp(-self^2).
TEND_UNARY(erfc, "ErfcBackward0", floating, kernels::erfc, self,
           grad * (-2 * std::numbers::inv_sqrtpi) * exp(-(self * self)))

/// Rounds down to the largest integer that is not above self.
///
/// The result has self's shape and dtype. The gradient is zero.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(floor, "FloorBackward0", same, floor_kernel, nothing, zero_slope(grad))
/// Rounds up to the smallest integer that is not below self.
///
/// The result has self's shape and dtype. The gradient is zero.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(ceil, "CeilBackward0", same, ceil_kernel, nothing, zero_slope(grad))
/// Rounds to the nearest integer, and halves to the even one.
///
/// The result has self's shape and dtype. The gradient is zero.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(round, "RoundBackward0", same, round_kernel, nothing, zero_slope(grad))
/// Rounds towards zero.
///
/// The result has self's shape and dtype. The gradient is zero.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(trunc, "TruncBackward0", same, trunc_kernel, nothing, zero_slope(grad))

/// Computes the logarithm of the absolute value of the gamma function.
///
/// For a positive integer n, gamma(n) = (n - 1)!. The result has self's shape; int64 and bool give
/// float32. It is infinite at 0 and at the negative integers. The gradient is digamma(self).
TEND_UNARY(lgamma, "LgammaBackward0", floating, kernels::lgamma, self, grad * digamma(self))
/// Computes the derivative of lgamma.
///
/// The result has self's shape; int64 and bool give float32. It is NaN at the negative integers,
/// and infinite at 0. The gradient is polygamma(1, self).
TEND_UNARY(digamma, "DigammaBackward0", floating, digamma_kernel, self, grad * polygamma(1, self))
/// Computes the inverse of erf.
///
/// The result has self's shape; int64 and bool give float32. It is infinite at -1 and 1, and NaN
/// outside. With the result y, the gradient is sqrt(pi) / 2 exp(y^2).
TEND_UNARY(erfinv, "ErfinvBackward0", floating, kernels::erfinv, result,
           grad * (0.5 / std::numbers::inv_sqrtpi) * exp(result * result))

/// Computes the angle of the point with x = other and y = self.
///
/// The angle is in [-pi, pi]. The tensors broadcast and promote; int64 and bool give float32. Signs
/// of zeros count, as in C. The gradient of self is x / (x^2 + y^2), and the gradient of other is
/// -y / (x^2 + y^2). Both are NaN at the origin.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_BINARY(atan2, "Atan2Backward0", floating, kernels::atan2, both,
            over_radius(grad, self, other) * to(other, grad.dtype()), both,
            over_radius(grad, self, other) * -to(self, grad.dtype()))

///@{
/// Computes self * log(other), which is 0 where self is 0.
///
/// It is NaN where other is NaN. The tensors broadcast and promote; int64 and bool give float32.
/// The gradient of self is log(other), but 0 where self is 0 and other is not positive. The
/// gradient of other is self / other.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_BINARY(xlogy, "XlogyBackward0", floating, kernels::xlogy, both,
            masked_fill(xlogy(grad, other), logical_and(self == 0, other <= 0), 0), both,
            grad * self / other)
TEND_WITH_NUMBER(xlogy, "XlogyBackward2")
TEND_OF_NUMBER(xlogy, "XlogyBackward1")
///@}
