// The table of activation.h. row_forms.h explains the rows.
// clang-format off
// (clang-format would format products as pointers.)

/// Computes max(self, 0), element by element.
///
/// self is floating or int64. The result has its shape and dtype. NaN stays NaN. The gradient is 0
/// where self <= 0. It is 1 elsewhere, also for NaN.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(relu, "ReluBackward0", same, kernels::relu, result,
           piecewise_linear_gradient("relu_backward", "ThresholdBackwardBackward0", grad, result,
                                     PairFormula::relu_backward))
/// Scaled exponential linear unit: scale * elu(self, alpha).
///
/// With scale = 1.0507 and alpha = 1.6733 (rounded), activations keep mean 0 and variance 1. self
/// is floating. The result has its shape and dtype. The gradient is scale where self is positive,
/// and scale * alpha * exp(self) elsewhere.
///
/// Throws: DTypeError - self is not floating
///
/// Klambauer et al., Self-Normalizing Neural Networks, 2017, arXiv:1706.02515.
TEND_UNARY(selu, "EluBackward0", same, selu_kernel, self,
           elu_gradient(grad, self, kSeluAlpha, kSeluScale, 1))
/// Computes min(max(self + 3, 0), 6) / 6, a piecewise linear form of sigmoid.
///
/// self is floating. The result has its shape and dtype. The gradient is 1/6 between -3 and 3, and
/// 0 elsewhere.
///
/// Throws: DTypeError - self is not floating
TEND_UNARY(hardsigmoid, "HardsigmoidBackward0", same, hardsigmoid_kernel, self,
           piecewise_linear_gradient("hardsigmoid_backward", "HardsigmoidBackwardBackward0", grad,
                                     self, PairFormula::hardsigmoid_backward))
/// Computes self * hardsigmoid(self).
///
/// self is floating. The result has its shape and dtype. The gradient is self / 3 + 1/2 from -3 to
/// 3, 0 below and 1 above.
///
/// Throws: DTypeError - self is not floating
///
/// Howard et al., Searching for MobileNetV3, 2019, arXiv:1905.02244.
TEND_UNARY(hardswish, "HardswishBackward0", same, hardswish_kernel, self,
           grad_enabled() ? hardswish_slope(grad, self)
                          : fused(PairFormula::hardswish_backward, grad, self))
/// Sigmoid-weighted linear unit: self * sigmoid(self).
///
/// self is floating. The result has its shape and dtype. With s = sigmoid(self), the gradient is s
/// (1 + self (1 - s)).
///
/// Throws: DTypeError - self is not floating
///
/// Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017, arXiv:1702.03118.
TEND_UNARY(silu, "SiluBackward0", same, kernels::silu, self,
           grad_enabled() ? grad * silu_slope(self) : fused(kernels::silu_backward, grad, self))
/// Computes self * tanh(softplus(self)).
///
/// self is floating. The result has its shape and dtype. With t = tanh(softplus(self)), the
/// gradient is t + self sigmoid(self) (1 - t^2).
///
/// Throws: DTypeError - self is not floating
///
/// Misra, Mish, 2019, arXiv:1908.08681.
TEND_UNARY(mish, "MishBackward0", same, kernels::mish, self,
           grad_enabled() ? grad * mish_slope(self) : fused(PairFormula::mish_backward, grad, self))
