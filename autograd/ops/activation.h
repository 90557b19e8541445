/// \file
/// The nonlinearities of networks; tanh and sigmoid are in autograd/ops/math.h. The result has
/// self's dtype and, except for glu, its shape. Floating tensors only (DTypeError), unless stated.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/activation_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

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

/// min(max(self, 0), 6): hardtanh with these bounds, with its dtypes, errors and gradient.
Tensor relu6(const Tensor& self);
/// self where it is positive, else alpha * (exp(self / alpha) - 1). Floating only (DTypeError),
/// Error unless alpha > 0. The gradient is exp(self / alpha) where self <= 0, 1 elsewhere. Barron,
/// Continuously Differentiable Exponential Linear Units, 2017, arXiv:1704.07483.
Tensor celu(const Tensor& self, double alpha = 1);
/// self where it is positive, else weight * self. The weight has one element, or one for each
/// channel, which are dimension 1 of self (ShapeError), and self's dtype, which is floating
/// (DTypeError). The gradient of self is 1 where it is positive, else the weight; that of the
/// weight is the sum of the negative elements. He et al., Delving Deep into Rectifiers, 2015,
/// arXiv:1502.01852.
Tensor prelu(const Tensor& self, const Tensor& weight);

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
template <>
inline constexpr std::string_view detail::kWords<GeluKind> = "approximate: none tanh";

/// x Phi(x) for x = self, Phi the normal distribution function; or, of kind tanh, the approximation
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Floating only (DTypeError). The gradient is
/// Phi(x) + x phi(x), phi the normal density, or the derivative of the approximation. Hendrycks and
/// Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
Tensor gelu(const Tensor& self, OrWord<GeluKind> kind = GeluKind::exact);

/// y = exp(self) / sum(exp(self)) along `dim`, which may count from the end (IndexError). As in
/// PyTorch, the result along `dim` is NaN if all elements are -inf, or one is NaN or +inf. Floating
/// only (DTypeError); with `dtype` self is converted first. With the gradient g of y, that of self
/// is y (g - sum(g y)).
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// The logarithm of softmax along `dim`, computed without underflow: self - log(sum(exp(self))).
/// Floating only (DTypeError), IndexError for `dim`; with `dtype` self is converted first. With the
/// result's gradient g, that of self is g - softmax(self) sum(g).
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// softmax of -self, with its dtypes and errors. With the gradient g of the result y, that of self
/// is -y (g - sum(g y)).
Tensor softmin(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// softmax((self + g) / tau) along `dim` (IndexError) with noise g of Gumbel's distribution: a draw
/// from the categories with these logits that has a gradient. With `hard`, 1 for the largest
/// element and 0 for the others, with the gradient of softmax. `eps` has no effect (it is there
/// because PyTorch has it). Floating only (DTypeError), Error unless tau > 0. Jang, Gu and Poole,
/// Categorical Reparameterization with Gumbel-Softmax, 2016, arXiv:1611.01144.
Tensor gumbel_softmax(const Tensor& self, double tau = 1, Flag hard = false, double eps = 1e-10,
                      std::int64_t dim = -1, Generator& generator = default_generator());

}  // namespace tend
