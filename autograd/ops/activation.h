/// \file
/// The nonlinearities of networks; tanh and sigmoid are in autograd/ops/math.h. The result has
/// self's dtype and, except for glu, its shape. Floating tensors only (DTypeError), unless stated.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// max(self, 0); NaN stays NaN. int64 too; DTypeError for bool. The gradient is 0 where self <= 0,
/// 1 elsewhere, NaN included.
Tensor relu(const Tensor& self);

/// self where it is positive, else negative_slope * self. Floating only (DTypeError, also for a
/// slope that the dtype cannot hold). The gradient is 1 where self is positive, else
/// negative_slope. Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic
/// Models, 2013.
Tensor leaky_relu(const Tensor& self, double negative_slope = 0.01);
/// self where it is positive, else alpha * (exp(self) - 1). Floating only (DTypeError, also for an
/// alpha that the dtype cannot hold). The gradient is alpha * exp(self) where self <= 0, 1
/// elsewhere, NaN included. Clevert, Unterthiner and Hochreiter, Exponential Linear Units,
/// arXiv:1511.07289.
Tensor elu(const Tensor& self, double alpha = 1);
/// min(max(self, min_val), max_val). For int64 the bounds are truncated; DTypeError for bool and
/// for bounds that the dtype cannot hold, Error where min_val > max_val. The gradient is 0 at the
/// bounds and beyond, 1 elsewhere, NaN included.
Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);

/// self * s with s = sigmoid(self). Floating only (DTypeError). The gradient is
/// s (1 + self (1 - s)). Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017,
/// arXiv:1702.03118.
Tensor silu(const Tensor& self);
/// self * t with t = tanh(softplus(self)). Floating only (DTypeError). The gradient is
/// t + self sigmoid(self) (1 - t^2). Misra, Mish, 2019, arXiv:1908.08681.
Tensor mish(const Tensor& self);
/// log(1 + exp(beta * self)) / beta, and self where beta * self exceeds the threshold. Floating
/// only (DTypeError, also for numbers that the dtype cannot hold). The gradient is
/// sigmoid(beta * self), 1 above the threshold.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.softplus.html
Tensor softplus(const Tensor& self, double beta = 1, double threshold = 20);
/// self / (1 + |self|); int64 gives float32, bool is a DTypeError. The gradient is 1 / (1 +
/// |self|)^2. https://pytorch.org/docs/2.6/generated/torch.nn.functional.softsign.html
Tensor softsign(const Tensor& self);
/// log(sigmoid(self)), without underflow. Floating only (DTypeError). The gradient is
/// sigmoid(-self).
Tensor logsigmoid(const Tensor& self);
/// a * s with s = sigmoid(b), a and b the halves of self along `dim` (IndexError), whose size is
/// even (ShapeError, also for a 0-d tensor); the result has half that size. Floating only
/// (DTypeError). The gradient of a is s, that of b is a s (1 - s). Dauphin, Fan, Auli and Grangier,
/// Language Modeling with Gated Convolutional Networks, 2016, arXiv:1612.08083.
Tensor glu(const Tensor& self, std::int64_t dim = -1);

/// Which formula gelu uses: that of the normal distribution, or its approximation by tanh.
enum class GeluKind { exact, tanh };

/// x Phi(x) for x = self, Phi the normal distribution function; or, of kind tanh, the approximation
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Floating only (DTypeError). The gradient is
/// Phi(x) + x phi(x), phi the normal density, or the derivative of the approximation. Hendrycks and
/// Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
Tensor gelu(const Tensor& self, GeluKind kind = GeluKind::exact);

/// y = exp(self) / sum(exp(self)) along `dim`, which may count from the end (IndexError). As in
/// PyTorch, the result along `dim` is NaN if all elements are -inf, or one is NaN or +inf. Floating
/// only (DTypeError). With the gradient g of y, that of self is y (g - sum(g y)).
Tensor softmax(const Tensor& self, std::int64_t dim);
/// The logarithm of softmax along `dim`, computed without underflow: self - log(sum(exp(self))).
/// Floating only (DTypeError), IndexError for `dim`. With the result's gradient g, that of self is
/// g - softmax(self) sum(g).
Tensor log_softmax(const Tensor& self, std::int64_t dim);

}  // namespace tend
