/// \file
/// Normalisation. In gradients x is the normalised input before the weight, g the result's gradient
/// times the weight, and the means are those over what was normalised together.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/array.h>

namespace tend {

/// x * weight + bias with x = (self - mean) / sqrt(var + eps), mean and (biased) variance over the
/// last dimensions, whose sizes are `normalized_shape` (ShapeError, also when there are none).
/// weight and bias have that shape (ShapeError) and self's dtype; either may be undefined. Floating
/// only (DTypeError). With g the result's gradient times the weight, the gradient of self is
/// (g - mean(g) - x mean(g x)) / sqrt(var + eps); that of the weight is the result's times x and
/// that of the bias the result's, both summed over the leading dimensions. Ba, Kiros and Hinton,
/// Layer Normalization, 2016, arXiv:1607.06450.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.layer_norm.html
Tensor layer_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/// x * weight with x = self / sqrt(mean(self^2) + eps), the mean over the last dimensions, whose
/// sizes are `normalized_shape` (ShapeError, also when there are none). weight has that shape
/// (ShapeError) and self's dtype, or is undefined. Floating only (DTypeError). eps is the dtype's
/// machine epsilon unless given. With g the result's gradient times the weight, the gradient of
/// self is (g - x mean(g x)) / sqrt(mean(self^2) + eps); that of the weight is the result's times
/// x, summed over the leading dimensions. Zhang and Sennrich, Root Mean Square Layer Normalization,
/// 2019, arXiv:1910.07467. https://pytorch.org/docs/2.6/generated/torch.nn.functional.rms_norm.html
Tensor rms_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);

/// How batch_norm gets its statistics.
struct BatchNormOptions {
  Flag training = false;  ///< take those of the batch, otherwise the running ones
  double momentum = 0.1;  ///< the share of the batch in new running statistics
  double eps = 1e-5;
};

///@{
/// x * weight + bias with x = (self - mean) / sqrt(var + eps), for self (N, C) or (N, C, d1, ...);
/// weight, bias, running_mean and running_var are (C) (ShapeError) and have self's dtype, which is
/// floating (DTypeError). Each may be undefined.
///
/// While training, mean and (biased) variance are those of each channel over all other dimensions,
/// which must give more than one value (ShapeError). Those running statistics that are defined are
/// updated in place, as constants: running = (1 - momentum) running + momentum batch, with the
/// unbiased variance; an empty batch updates nothing. Otherwise mean and variance are the running
/// statistics (Error when one is undefined), which are constants.
///
/// The gradients are those of layer_norm, with the mean and variance of a channel; with running
/// statistics that of self is g / sqrt(var + eps). Ioffe and Szegedy, Batch Normalization, 2015,
/// arXiv:1502.03167. https://pytorch.org/docs/2.6/generated/torch.nn.functional.batch_norm.html
Tensor batch_norm(const Tensor& self, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {},
                  const BatchNormOptions& options = {});
template <std::same_as<bool> B>
Tensor batch_norm(const Tensor& self, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, B training, double momentum = 0.1,
                  double eps = 1e-5) {
  return batch_norm(self, running_mean, running_var, weight, bias,
                    BatchNormOptions{training, momentum, eps});
}
///@}

/// x * weight + bias with x = (self - mean) / sqrt(var + eps), for self (N, C) or (N, C, d1, ...),
/// mean and (biased) variance of each item over a group of C / num_groups channels and all their
/// elements; ShapeError unless num_groups divides C, and when a single item has one value per
/// group. weight and bias are (C) (ShapeError) and have self's dtype, which is floating
/// (DTypeError); either may be undefined. The gradients are those of layer_norm, with the mean and
/// variance of a group. Wu and He, Group Normalization, 2018, arXiv:1803.08494.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.group_norm.html
Tensor group_norm(const Tensor& self, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

}  // namespace tend
