// Initialisation with PyTorch's distributions and random numbers (torch.nn.init).
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/words.h>

namespace tend::nn::init {

// Each function writes `tensor` in place, outside of any graph, and returns it. Random numbers come
// from the default generator. All functions throw a ShapeError if two indices of the tensor refer
// to the same element.

/// Uniform random numbers in [low, high).
Tensor uniform_(const Tensor& tensor, double low = 0.0, double high = 1.0);
/// Normal random numbers, N(mean, std^2).
Tensor normal_(const Tensor& tensor, double mean = 0.0, double std = 1.0);
/// Normal random numbers, N(mean, std^2), limited to [a, b].
///
/// Throws: Error - std is below 0, or b is below a
Tensor trunc_normal_(const Tensor& tensor, double mean = 0.0, double std = 1.0, double a = -2.0,
                     double b = 2.0);
Tensor constant_(const Tensor& tensor, double value);
Tensor zeros_(const Tensor& tensor);
Tensor ones_(const Tensor& tensor);
/// Ones on the main diagonal, zeros elsewhere.
///
/// Throws: ShapeError - the tensor is not 2-d
Tensor eye_(const Tensor& tensor);
/// A convolution kernel that copies, in each group, input channel i to output channel i. Output
/// channels without such an input channel are zero.
///
/// Throws:
///   ShapeError - the tensor does not have 3 to 5 dimensions
///   ShapeError - `groups` does not divide the first dimension
Tensor dirac_(const Tensor& tensor, std::int64_t groups = 1);
/// A random matrix whose rows are orthogonal vectors of length `gain`.
///
/// Dimension 0 of the tensor counts as the matrix's rows, the other dimensions together as its
/// columns. If there are fewer columns than rows, the columns are orthogonal instead. The numbers
/// are PyTorch's, up to rounding. Saxe et al. 2013, https://arxiv.org/abs/1312.6120.
///
/// Throws: ShapeError - the tensor has fewer than 2 dimensions
Tensor orthogonal_(const Tensor& tensor, double gain = 1.0);
/// Normal random numbers, N(0, std^2), except that in each column random elements are zero.
///
/// The number of zeros in a column is `sparsity` times the number of rows, rounded up. Martens
/// 2010.
///
/// Throws:
///   ShapeError - the tensor is not 2-d
///   Error      - sparsity is not in [0, 1]
Tensor sparse_(const Tensor& tensor, double sparsity, double std = 0.01);

/// The nonlinearity after a layer.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor by which a layer's weights compensate for the nonlinearity after the layer.
///
/// It is 1 for linear and sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2 / (1 + slope^2)) for
/// leaky_relu and 3/4 for selu. Only leaky_relu uses the slope. Its default is 0.01 here, but 0 in
/// the kaiming functions.
double calculate_gain(OrWord<Nonlinearity> nonlinearity,
                      std::optional<double> slope = std::nullopt);

/// What determines the scale of a weight (out, in, ...): its number of inputs or of outputs.
enum class Fan { in, out };

/// Uniform random numbers in [-b, b] with b = gain sqrt(3 / fan).
///
/// The gain is calculate_gain(nonlinearity, slope). A tensor without elements is left as it is. He
/// et al. 2015, https://arxiv.org/abs/1502.01852.
///
/// Throws: ShapeError - the tensor has fewer than 2 dimensions
Tensor kaiming_uniform_(const Tensor& tensor, double slope = 0.0, OrWord<Fan> fan = Fan::in,
                        OrWord<Nonlinearity> nonlinearity = Nonlinearity::leaky_relu);
/// Normal random numbers with std = gain / sqrt(fan), otherwise as kaiming_uniform_().
///
/// Throws: ShapeError - the tensor has fewer than 2 dimensions
Tensor kaiming_normal_(const Tensor& tensor, double slope = 0.0, OrWord<Fan> fan = Fan::in,
                       OrWord<Nonlinearity> nonlinearity = Nonlinearity::leaky_relu);
/// Uniform random numbers in [-b, b] with b = gain sqrt(6 / (fan_in + fan_out)). Glorot and Bengio
/// 2010.
///
/// Throws: ShapeError - the tensor has fewer than 2 dimensions
Tensor xavier_uniform_(const Tensor& tensor, double gain = 1.0);
/// Normal random numbers with std = gain sqrt(2 / (fan_in + fan_out)).
///
/// Throws: ShapeError - the tensor has fewer than 2 dimensions
Tensor xavier_normal_(const Tensor& tensor, double gain = 1.0);

}  // namespace tend::nn::init

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<nn::init::Nonlinearity> =
    "nonlinearity: linear sigmoid tanh relu leaky_relu selu";
template <>
inline constexpr std::string_view kWords<nn::init::Fan> = "mode: fan_in fan_out";
}  // namespace tend::detail
