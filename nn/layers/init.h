// Initialisation: PyTorch's distributions, drawn in PyTorch's order (torch.nn.init).
#pragma once

#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/words.h>

namespace tend::nn::init {

// Each function writes `tensor` in place, outside of any graph, with numbers of the default
// generator, and returns it. ShapeError for a tensor in which two indices share an element.

/// Uniform on [low, high).
Tensor uniform_(const Tensor& tensor, double low = 0.0, double high = 1.0);
/// N(mean, std^2).
Tensor normal_(const Tensor& tensor, double mean = 0.0, double std = 1.0);
/// N(mean, std^2), as far as it lies in [a, b]. Error for a std below 0 and for b below a.
Tensor trunc_normal_(const Tensor& tensor, double mean = 0.0, double std = 1.0, double a = -2.0,
                     double b = 2.0);
Tensor constant_(const Tensor& tensor, double value);
Tensor zeros_(const Tensor& tensor);
Tensor ones_(const Tensor& tensor);
/// Ones on the main diagonal, zeros elsewhere; ShapeError unless 2-d.
Tensor eye_(const Tensor& tensor);
/// The kernel of a convolution that gives channel i of each group's inputs as channel i of its
/// outputs, as far as there are both. ShapeError unless it has 3 to 5 dimensions, the first of
/// which the groups divide.
Tensor dirac_(const Tensor& tensor, std::int64_t groups = 1);
/// The first dimension against all others as a matrix whose rows, or columns where these are fewer,
/// are orthogonal and of length `gain`: Saxe et al. 2013, https://arxiv.org/abs/1312.6120.
/// ShapeError below 2-d. PyTorch's numbers but for rounding.
Tensor orthogonal_(const Tensor& tensor, double gain = 1.0);
/// N(0, std^2), but in each column as many zeros as `sparsity`, which lies in [0, 1] (Error), says
/// of its rows, rounded up: Martens 2010. ShapeError unless 2-d.
Tensor sparse_(const Tensor& tensor, double sparsity, double std = 0.01);

/// What comes behind a layer.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor by which a layer's weights make up for what follows: 1, 5/3 for tanh, sqrt(2) for
/// relu, sqrt(2 / (1 + slope^2)) for leaky_relu, 3/4 for selu. The slope, which
/// counts for leaky_relu alone, is 0.01 unless given; that of kaiming_* is 0.
double calculate_gain(OrWord<Nonlinearity> nonlinearity,
                      std::optional<double> slope = std::nullopt);

/// Which size of a weight (out, in, ...) keeps its variance: that of the inputs or that of the
/// outputs.
enum class Fan { in, out };

/// Uniform on +-gain sqrt(3 / fan), with the gain of the nonlinearity and `slope`: He et al. 2015,
/// https://arxiv.org/abs/1502.01852. ShapeError below 2-d; without elements nothing happens.
Tensor kaiming_uniform_(const Tensor& tensor, double slope = 0.0, OrWord<Fan> fan = Fan::in,
                        OrWord<Nonlinearity> nonlinearity = Nonlinearity::leaky_relu);
/// Normal with std gain / sqrt(fan).
Tensor kaiming_normal_(const Tensor& tensor, double slope = 0.0, OrWord<Fan> fan = Fan::in,
                       OrWord<Nonlinearity> nonlinearity = Nonlinearity::leaky_relu);
/// Uniform on +-gain sqrt(6 / (fan_in + fan_out)): Glorot and Bengio 2010. ShapeError below 2-d.
Tensor xavier_uniform_(const Tensor& tensor, double gain = 1.0);
/// Normal with std gain sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal_(const Tensor& tensor, double gain = 1.0);

}  // namespace tend::nn::init

namespace tend::detail {
template <>
inline constexpr std::string_view kWords<nn::init::Nonlinearity> =
    "nonlinearity: linear sigmoid tanh relu leaky_relu selu";
template <>
inline constexpr std::string_view kWords<nn::init::Fan> = "mode: fan_in fan_out";
}  // namespace tend::detail
