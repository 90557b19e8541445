// The table of math.h: row_forms.h says what a row means.
// clang-format off
// (It takes products for pointers.)

/// e to the power of self; integers give float32. The gradient is exp(self).
TEND_UNARY(exp, "ExpBackward0", floating, kernels::exp, result, grad * result)
/// 2 to the power of self; integers give float32. The gradient is log(2) 2^self.
TEND_UNARY(exp2, "Exp2Backward0", floating, kernels::exp2, result, grad * result * std::numbers::ln2)
/// exp(self) - 1, precise near 0; integers give float32. The gradient is exp(self).
TEND_UNARY(expm1, "Expm1Backward0", floating, kernels::expm1, result, grad * (result + 1))
/// 2^self - 1, precise near 0; integers give float32. The gradient is log(2) 2^self.
TEND_UNARY(exp2m1, "Exp2m1Backward", floating, kernels::exp2m1, result,
           grad * (result + 1) * std::numbers::ln2)
/// The natural logarithm: -inf of 0, NaN below it; integers give float32. The gradient is 1 / self.
TEND_UNARY(log, "LogBackward0", floating, kernels::log, self, grad / self)
/// The logarithm to base 2, as log. The gradient is 1 / (self log(2)).
TEND_UNARY(log2, "Log2Backward0", floating, kernels::log2, self, grad / (self * std::numbers::ln2))
/// The logarithm to base 10, as log. The gradient is 1 / (self log(10)).
TEND_UNARY(log10, "Log10Backward0", floating, kernels::log10, self,
           grad / (self * std::numbers::ln10))
/// log(1 + self), precise near 0; integers give float32. The gradient is 1 / (1 + self).
TEND_UNARY(log1p, "Log1PBackward0", floating, kernels::log1p, self, grad / (self + 1))

/// The terms of an entropy, -self log(self): 0 at 0, -inf below it; integers give float32. The
/// entropy of attention patterns is entr(weights).sum(-1). The gradient is -1 - log(self).
/// https://pytorch.org/docs/2.6/special.html#torch.special.entr
TEND_UNARY(entr, "SpecialEntrBackward0", floating, entr_kernel, self, grad * (-1 - log(self)))

/// The square root; NaN below 0; integers give float32. The gradient is 1 / (2 sqrt(self)),
/// infinite at 0.
TEND_UNARY(sqrt, "SqrtBackward0", floating, kernels::sqrt, result, grad / (2 * result))
/// 1 / sqrt(self); integers give float32. The gradient is -rsqrt(self)^3 / 2.
TEND_UNARY(rsqrt, "RsqrtBackward0", floating, kernels::rsqrt, result,
           -0.5 * grad * (result * result * result))

/// The sine of self radians; integers give float32. The gradient is cos(self).
TEND_UNARY(sin, "SinBackward0", floating, kernels::sin, self, grad * cos(self))
/// The cosine of self radians; integers give float32. The gradient is -sin(self).
TEND_UNARY(cos, "CosBackward0", floating, kernels::cos, self, grad * -sin(self))
/// The tangent of self radians; integers give float32. The gradient is 1 + tan(self)^2.
TEND_UNARY(tan, "TanBackward0", floating, kernels::tan, result, grad * (1 + result * result))
/// The angle in [-pi/2, pi/2] of sine self; NaN outside [-1, 1]; integers give float32. The
/// gradient is 1 / sqrt(1 - self^2), infinite at -1 and 1.
TEND_UNARY(asin, "AsinBackward0", floating, kernels::asin, self, grad * arc_slope(self))
/// The angle in [0, pi] of cosine self; NaN outside [-1, 1]; integers give float32. The gradient is
/// -1 / sqrt(1 - self^2), infinite at -1 and 1.
TEND_UNARY(acos, "AcosBackward0", floating, kernels::acos, self, -grad * arc_slope(self))
/// The angle in [-pi/2, pi/2] of tangent self; integers give float32. The gradient is
/// 1 / (1 + self^2).
TEND_UNARY(atan, "AtanBackward0", floating, kernels::atan, self, grad / (self * self + 1))

/// (exp(self) - exp(-self)) / 2; integers give float32. The gradient is cosh(self).
TEND_UNARY(sinh, "SinhBackward0", floating, kernels::sinh, self, grad * cosh(self))
/// (exp(self) + exp(-self)) / 2; integers give float32. The gradient is sinh(self).
TEND_UNARY(cosh, "CoshBackward0", floating, kernels::cosh, self, grad * sinh(self))
/// sinh(self) / cosh(self); integers give float32. The gradient is 1 - tanh(self)^2.
TEND_UNARY(tanh, "TanhBackward0", floating, kernels::tanh, result,
           grad_enabled() ? grad * (1 - result * result)
                          : fused(kernels::tanh_backward, grad, result))

/// y = 1 / (1 + exp(-self)); integers give float32. The gradient is y (1 - y).
TEND_UNARY(sigmoid, "SigmoidBackward0", floating, kernels::sigmoid, result,
           grad_enabled() ? grad * (1 - result) * result
                          : fused(kernels::sigmoid_backward, grad, result))
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to self; integers give
/// float32. The gradient is 2 / sqrt(pi) exp(-self^2).
TEND_UNARY(erf, "ErfBackward0", floating, kernels::erf, self,
           grad * (2 * std::numbers::inv_sqrtpi) * exp(-(self * self)))
/// 1 - erf(self), precise where that is small; integers give float32. The gradient is
/// -2 / sqrt(pi) exp(-self^2).
TEND_UNARY(erfc, "ErfcBackward0", floating, kernels::erfc, self,
           grad * (-2 * std::numbers::inv_sqrtpi) * exp(-(self * self)))

/// The largest integer that is not above self. int64 stays int64; DTypeError for bool. The gradient
/// is zero.
TEND_UNARY(floor, "FloorBackward0", same, floor_kernel, nothing, zero_slope(grad))
/// The smallest integer that is not below self. int64 stays int64; DTypeError for bool. The
/// gradient is zero.
TEND_UNARY(ceil, "CeilBackward0", same, ceil_kernel, nothing, zero_slope(grad))
/// The nearest integer, the even one of two. int64 stays int64; DTypeError for bool. The gradient
/// is zero.
TEND_UNARY(round, "RoundBackward0", same, round_kernel, nothing, zero_slope(grad))
/// Rounded towards zero. int64 stays int64; DTypeError for bool. The gradient is zero.
TEND_UNARY(trunc, "TruncBackward0", same, trunc_kernel, nothing, zero_slope(grad))

/// log(|gamma(self)|), gamma(n) = (n - 1)!; infinite at 0 and the negative integers. Integers give
/// float32. The gradient is digamma(self).
TEND_UNARY(lgamma, "LgammaBackward0", floating, kernels::lgamma, self, grad * digamma(self))
/// The derivative of lgamma: NaN at the negative integers, infinite at 0. Integers give float32.
/// The gradient is polygamma(1, self).
TEND_UNARY(digamma, "DigammaBackward0", floating, digamma_kernel, self, grad * polygamma(1, self))
/// The y with erf(y) = self: infinite at -1 and 1, NaN outside; integers give float32. The gradient
/// is sqrt(pi) / 2 exp(y^2).
TEND_UNARY(erfinv, "ErfinvBackward0", floating, kernels::erfinv, result,
           grad * (0.5 / std::numbers::inv_sqrtpi) * exp(result * result))

/// The angle in [-pi, pi] of the point with x = other, y = self, broadcast (ShapeError) and
/// promoted; integers give float32. Signs of zeros count, as in C. The gradient of self is
/// x / (x^2 + y^2), that of other -y / (x^2 + y^2); at the origin both are NaN.
TEND_BINARY(atan2, "Atan2Backward0", floating, kernels::atan2, both,
            over_radius(grad, self, other) * to(other, grad.dtype()), both,
            over_radius(grad, self, other) * -to(self, grad.dtype()))

///@{
/// self * log(other), and 0 where self is 0 (NaN where other is NaN); broadcast (ShapeError) and
/// promoted, integers give float32. The gradient of self is log(other), but 0 where self is 0 and
/// other not positive; that of other is self / other.
TEND_BINARY(xlogy, "XlogyBackward0", floating, kernels::xlogy, both,
            masked_fill(xlogy(grad, other), logical_and(self == 0, other <= 0), 0), both,
            grad * self / other)
TEND_WITH_NUMBER(xlogy, "XlogyBackward2")
TEND_OF_NUMBER(xlogy, "XlogyBackward1")
///@}
