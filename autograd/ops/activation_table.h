// The table of activation.h: row_forms.h says what a row means.
// clang-format off
// (It takes products for pointers.)

/// max(self, 0); NaN stays NaN. int64 too; DTypeError for bool. The gradient is 0 where self <= 0,
/// 1 elsewhere, NaN included.
TEND_UNARY(relu, "ReluBackward0", same, kernels::relu, result,
           piecewise_linear_gradient("relu_backward", "ThresholdBackwardBackward0", grad, result,
                                     PairFormula::relu_backward))
/// scale * elu(self, alpha) with scale = 1.0507... and alpha = 1.6733..., for which activations
/// keep mean 0 and variance 1. Floating only (DTypeError). The gradient is scale where self is
/// positive, else scale * alpha * exp(self). Klambauer et al., Self-Normalizing Neural Networks,
/// 2017, arXiv:1706.02515.
TEND_UNARY(selu, "EluBackward0", same, selu_kernel, self,
           elu_gradient(grad, self, kSeluAlpha, kSeluScale, 1))
/// min(max(self + 3, 0), 6) / 6. Floating only (DTypeError). The gradient is 1/6 between -3 and 3,
/// 0 elsewhere.
TEND_UNARY(hardsigmoid, "HardsigmoidBackward0", same, hardsigmoid_kernel, self,
           piecewise_linear_gradient("hardsigmoid_backward", "HardsigmoidBackwardBackward0", grad,
                                     self, PairFormula::hardsigmoid_backward))
/// self * hardsigmoid(self). Floating only (DTypeError). The gradient is self / 3 + 1/2 from -3 to
/// 3, 0 below, 1 above. Howard et al., Searching for MobileNetV3, 2019, arXiv:1905.02244.
TEND_UNARY(hardswish, "HardswishBackward0", same, hardswish_kernel, self,
           grad_enabled() ? hardswish_slope(grad, self)
                          : fused(PairFormula::hardswish_backward, grad, self))
/// self * s with s = sigmoid(self). Floating only (DTypeError). The gradient is
/// s (1 + self (1 - s)). Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017,
/// arXiv:1702.03118.
TEND_UNARY(silu, "SiluBackward0", same, kernels::silu, self,
           grad_enabled() ? grad * silu_slope(self) : fused(kernels::silu_backward, grad, self))
/// self * t with t = tanh(softplus(self)). Floating only (DTypeError). The gradient is
/// t + self sigmoid(self) (1 - t^2). Misra, Mish, 2019, arXiv:1908.08681.
TEND_UNARY(mish, "MishBackward0", same, kernels::mish, self,
           grad_enabled() ? grad * mish_slope(self) : fused(PairFormula::mish_backward, grad, self))
