// The nonlinearities of networks; tanh and sigmoid stand in math.h.
#pragma once

#include <cstdint>

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// max(self, 0), with gradient 0 at 0; NaN stays NaN. int64 too; DTypeError for bool.
Tensor relu(const Tensor& self);

/// self where it is positive, else negative_slope * self; the gradient at 0 is negative_slope.
/// Floating only (DTypeError). Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network
/// Acoustic Models, 2013.
Tensor leaky_relu(const Tensor& self, double negative_slope = 0.01);
/// self where it is positive, else alpha * (exp(self) - 1). Floating only (DTypeError). Clevert,
/// Unterthiner and Hochreiter, Exponential Linear Units, 2015, arXiv:1511.07289.
Tensor elu(const Tensor& self, double alpha = 1);
/// min(max(self, min_val), max_val), with gradient 0 at the bounds too. On int64 the bounds are cut
/// to integers; DTypeError for bool, Error where min_val > max_val.
Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);

/// self * sigmoid(self). Floating only (DTypeError). Elfwing, Uchibe and Doya, Sigmoid-Weighted
/// Linear Units, 2017, arXiv:1702.03118.
Tensor silu(const Tensor& self);
/// self * tanh(softplus(self)). Floating only (DTypeError). Misra, Mish, 2019, arXiv:1908.08681.
Tensor mish(const Tensor& self);
/// log(1 + exp(beta * self)) / beta, and self where beta * self exceeds the threshold. Floating
/// only (DTypeError). https://pytorch.org/docs/2.6/generated/torch.nn.functional.softplus.html
Tensor softplus(const Tensor& self, double beta = 1, double threshold = 20);
/// log(sigmoid(self)), without its underflow. Floating only (DTypeError).
Tensor logsigmoid(const Tensor& self);
/// a * sigmoid(b), a and b the halves of self along `dim` (IndexError), whose size is even
/// (ShapeError, for a 0-d tensor too). Floating only (DTypeError). Dauphin, Fan, Auli and Grangier,
/// Language Modeling with Gated Convolutional Networks, 2016, arXiv:1612.08083.
Tensor glu(const Tensor& self, std::int64_t dim = -1);

enum class GeluKind { exact, tanh };

/// x Phi(x), Phi the normal distribution function; or, of kind tanh, the approximation
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Floating only (DTypeError). Hendrycks and
/// Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
Tensor gelu(const Tensor& self, GeluKind kind = GeluKind::exact);

// Along `dim`, which may count from the end (IndexError); floating only (DTypeError).

/// exp(self) over its sum. As in PyTorch NaN where everything is -inf, or anything NaN or +inf.
Tensor softmax(const Tensor& self, std::int64_t dim);
/// The logarithm of softmax, computed without its underflow.
Tensor log_softmax(const Tensor& self, std::int64_t dim);

}  // namespace tend
