// Initialisation: PyTorch's distributions, drawn in PyTorch's order (torch.nn.init).
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn::init {

// Each function writes `tensor` in place, outside of any graph, with numbers of the default
// generator. ShapeError for a tensor in which two indices share an element.

/// Uniform on [low, high).
void uniform_(const Tensor& tensor, double low = 0.0, double high = 1.0);
/// N(mean, std^2).
void normal_(const Tensor& tensor, double mean = 0.0, double std = 1.0);
void constant_(const Tensor& tensor, double value);
void zeros_(const Tensor& tensor);
void ones_(const Tensor& tensor);

/// Which size of a weight (out, in, ...) keeps its variance: that of the inputs or that of the
/// outputs.
enum class Fan { in, out };

/// Uniform on +-sqrt(6 / ((1 + slope^2) fan)): He et al. 2015, https://arxiv.org/abs/1502.01852.
/// ShapeError below 2-d.
void kaiming_uniform_(const Tensor& tensor, double slope = 0.0, Fan fan = Fan::in);
/// Normal with std sqrt(2 / ((1 + slope^2) fan)).
void kaiming_normal_(const Tensor& tensor, double slope = 0.0, Fan fan = Fan::in);
/// Uniform on +-gain sqrt(6 / (fan_in + fan_out)): Glorot and Bengio 2010. ShapeError below 2-d.
void xavier_uniform_(const Tensor& tensor, double gain = 1.0);
/// Normal with std gain sqrt(2 / (fan_in + fan_out)).
void xavier_normal_(const Tensor& tensor, double gain = 1.0);

}  // namespace tend::nn::init
