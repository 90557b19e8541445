/// \file
/// The activation functions of networks. tanh and sigmoid are in autograd/ops/math.h. The result
/// has self's dtype and, except for glu, self's shape. Unless stated otherwise, self is floating.
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

/// Returns self where it is positive, and negative_slope * self elsewhere.
///
/// self is floating. The result has its shape and dtype. The gradient is 1 where self is positive,
/// and negative_slope elsewhere.
///
/// Throws:
///   DTypeError - self is not floating
///   DTypeError - the dtype cannot hold negative_slope
///
/// Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models, 2013.
Tensor leaky_relu(const Tensor& self, double negative_slope = 0.01);
/// Returns self where it is positive, and alpha * (exp(self) - 1) elsewhere.
///
/// self is floating. The result has its shape and dtype. The gradient is alpha * exp(self) where
/// self <= 0. It is 1 elsewhere, also for NaN.
///
/// Throws:
///   DTypeError - self is not floating
///   DTypeError - the dtype cannot hold alpha
///
/// Clevert, Unterthiner and Hochreiter, Exponential Linear Units, arXiv:1511.07289.
Tensor elu(const Tensor& self, double alpha = 1);
/// Clamps self to [min_val, max_val]: min(max(self, min_val), max_val).
///
/// self is floating or int64. The result has its shape and dtype. For int64 the bounds are
/// truncated. The gradient is 0 at the bounds and beyond them. It is 1 elsewhere, also for NaN.
///
/// Throws:
///   DTypeError - self is bool
///   DTypeError - the dtype cannot hold a bound
///   Error      - min_val > max_val
Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);

/// Clamps self to [0, 6]: min(max(self, 0), 6).
///
/// self is floating or int64. The result has its shape and dtype. The gradient is 0 where self <= 0
/// or self >= 6. It is 1 elsewhere, also for NaN.
///
/// Throws: DTypeError - self is bool
Tensor relu6(const Tensor& self);
/// Returns self where it is positive, and alpha * (exp(self / alpha) - 1) elsewhere.
///
/// self is floating. The result has its shape and dtype. The gradient is exp(self / alpha) where
/// self <= 0, and 1 elsewhere.
///
/// Throws:
///   DTypeError - self is not floating
///   DTypeError - the dtype cannot hold alpha
///   Error      - alpha is not above 0
///
/// Barron, Continuously Differentiable Exponential Linear Units, 2017, arXiv:1704.07483.
Tensor celu(const Tensor& self, double alpha = 1);
/// Returns self where it is positive, and weight * self elsewhere.
///
/// self is floating. The result has its shape and dtype. The weight has self's dtype, and one
/// element or one for each channel. Channels are dimension 1 of self. The gradient of self is 1
/// where self is positive, and the weight elsewhere. The gradient of a weight is the sum of the
/// negative elements that it multiplies.
///
/// Throws:
///   ShapeError - the weight does not have one element, or one for each channel
///   DTypeError - self is not floating, or the weight has another dtype
///
/// He et al., Delving Deep into Rectifiers, 2015, arXiv:1502.01852.
Tensor prelu(const Tensor& self, const Tensor& weight);

/// Computes log(1 + exp(beta * self)) / beta, a smooth form of relu.
///
/// Where beta * self exceeds the threshold, the result is self. self is floating. The result has
/// its shape and dtype. The gradient is sigmoid(beta * self), and 1 above the threshold.
///
/// Throws:
///   DTypeError - self is not floating
///   DTypeError - the dtype cannot hold beta or the threshold
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.softplus.html
Tensor softplus(const Tensor& self, double beta = 1, double threshold = 20);
/// Computes self / (1 + |self|).
///
/// The result has self's shape and dtype, but int64 gives float32. The gradient is 1 / (1 +
/// |self|)^2.
///
/// Throws: DTypeError - self is bool
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.softsign.html
Tensor softsign(const Tensor& self);
/// Computes log(sigmoid(self)) without underflow.
///
/// self is floating. The result has its shape and dtype. The gradient is sigmoid(-self).
///
/// Throws: DTypeError - self is not floating
Tensor logsigmoid(const Tensor& self);
/// Gated linear unit: the first half of self along `dim`, times the sigmoid of the second half.
///
/// self is floating. The result has its dtype and shape, with half the size along `dim`. Let a and
/// b be the halves, and s = sigmoid(b). The gradient of a is s. The gradient of b is a s (1 - s).
///
/// Throws:
///   DTypeError - self is not floating
///   ShapeError - self is 0-d, or its size along `dim` is odd
///   IndexError - `dim` is out of range
///
/// Dauphin, Fan, Auli and Grangier, Language Modeling with Gated Convolutional Networks, 2016,
/// arXiv:1612.08083.
Tensor glu(const Tensor& self, std::int64_t dim = -1);

/// The formula of gelu: exact uses the normal distribution, tanh approximates it.
enum class GeluKind { exact, tanh };
template <>
inline constexpr std::string_view detail::kWords<GeluKind> = "approximate: none tanh";

/// Gaussian error linear unit: x Phi(x) for x = self, where Phi is the normal distribution
/// function.
///
/// Kind tanh computes the approximation x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). self is
/// floating. The result has its shape and dtype. The gradient is Phi(x) + x phi(x), where phi is
/// the normal density. For kind tanh it is the derivative of the approximation.
///
/// Throws: DTypeError - self is not floating
///
/// Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
Tensor gelu(const Tensor& self, OrWord<GeluKind> kind = GeluKind::exact);

/// Computes exp(self) / sum(exp(self)), with the sum along `dim`.
///
/// `dim` may count from the end. self is floating; if `dtype` is given, self is converted to it
/// first. The result has self's shape. As in PyTorch, the result along `dim` is NaN if all elements
/// are -inf, or if one is NaN or +inf. With the result y and its gradient g, the gradient of self
/// is y (g - sum(g y)).
///
/// Throws:
///   DTypeError - self is not floating after the conversion
///   IndexError - `dim` is out of range
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// Computes the logarithm of softmax along `dim`, without underflow.
///
/// This is self - log(sum(exp(self))). self is floating; if `dtype` is given, self is converted to
/// it first. The result has self's shape. With the result's gradient g, the gradient of self is g -
/// softmax(self) sum(g).
///
/// Throws:
///   DTypeError - self is not floating after the conversion
///   IndexError - `dim` is out of range
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/// Computes the softmax of -self along `dim`.
///
/// self is floating; if `dtype` is given, -self is converted to it first. The result has self's
/// shape. With the result y and its gradient g, the gradient of self is -y (g - sum(g y)).
///
/// Throws:
///   DTypeError - self is bool, or not floating after the conversion
///   IndexError - `dim` is out of range
Tensor softmin(const Tensor& self, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

/// Draws a sample from the categories with logits self along `dim`, in a form that has a gradient.
///
/// The sample is softmax((self + noise) / tau), with noise of Gumbel's distribution. With `hard`,
/// the largest element becomes 1 and the others 0, but the gradient is still softmax's. self is
/// floating. The result has its shape and dtype. `eps` has no effect; PyTorch has it. With the
/// softmax y and the result's gradient g, the gradient of self is y (g - sum(g y)) / tau.
///
/// Throws:
///   DTypeError - self is not floating
///   IndexError - `dim` is out of range
///   Error      - tau is not above 0
///
/// Jang, Gu and Poole, Categorical Reparameterization with Gumbel-Softmax, 2016, arXiv:1611.01144.
Tensor gumbel_softmax(const Tensor& self, double tau = 1, Flag hard = false, double eps = 1e-10,
                      std::int64_t dim = -1, Generator& generator = default_generator());

}  // namespace tend
