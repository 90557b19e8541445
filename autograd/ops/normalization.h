/// \file
/// Normalisation.
///
/// The gradients use three names: x is the normalised input before the weight, g is the result's
/// gradient times the weight, and mean(...) is the mean over the elements that are normalised
/// together.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/array.h>

namespace tend {

/// Normalises self over its last dimensions to mean 0 and variance 1, then scales and shifts it.
///
/// The result is x * weight + bias, where x = (self - mean) / sqrt(var + eps). The mean and the
/// (biased) variance are over the last dimensions, whose sizes are `normalized_shape`. weight and
/// bias have the shape `normalized_shape` and self's dtype; either may be undefined.
///
/// With g the result's gradient times the weight, the gradient of self is
/// (g - mean(g) - x mean(g x)) / sqrt(var + eps). The gradient of the weight is the result's
/// gradient times x, and the gradient of the bias is the result's gradient. Both are summed over
/// the leading dimensions.
///
/// Throws:
///   DTypeError - self is not floating, or weight or bias has another dtype
///   ShapeError - `normalized_shape` is empty, self does not end with it, or weight or bias has
///                another shape
///
/// Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.layer_norm.html
Tensor layer_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/// Divides self by its root mean square over its last dimensions, then scales it.
///
/// The result is x * weight, where x = self / sqrt(mean(self^2) + eps). The mean is over the last
/// dimensions, whose sizes are `normalized_shape`. weight has the shape `normalized_shape` and
/// self's dtype, or is undefined. eps defaults to the machine epsilon of the dtype.
///
/// With g the result's gradient times the weight, the gradient of self is
/// (g - x mean(g x)) / sqrt(mean(self^2) + eps). The gradient of the weight is the result's
/// gradient times x, summed over the leading dimensions.
///
/// Throws:
///   DTypeError - self is not floating, or weight has another dtype
///   ShapeError - `normalized_shape` is empty, self does not end with it, or weight has another
///                shape
///
/// Zhang and Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467.
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.rms_norm.html
Tensor rms_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);

/// The options of batch_norm.
struct BatchNormOptions {
  Flag training = false;  ///< use the statistics of the batch, not the running ones
  double momentum = 0.1;  ///< the weight of the batch in the new running statistics
  double eps = 1e-5;
};

///@{
/// Normalises each channel of self to mean 0 and variance 1, then scales and shifts it.
///
/// The result is x * weight + bias, where x = (self - mean) / sqrt(var + eps). self has the shape
/// (N, C) or (N, C, d1, ...). weight, bias, running_mean and running_var have the shape (C) and
/// self's dtype. Each of them may be undefined.
///
/// If `training` is true, the mean and the (biased) variance of a channel are over all other
/// dimensions. The running statistics, where defined, are updated in place, as constants:
/// running = (1 - momentum) running + momentum batch. This update uses the unbiased variance. An
/// empty batch updates nothing.
///
/// If `training` is false, the mean and the variance are the running statistics, which are
/// constants.
///
/// The gradients are layer_norm's, with the mean and the variance of a channel. With running
/// statistics, the gradient of self is g / sqrt(var + eps), where g is the result's gradient times
/// the weight.
///
/// Throws:
///   AutogradError - a running statistic requires grad
///   DTypeError    - self is not floating, or a parameter or statistic has another dtype
///   Error         - `training` is false and a running statistic is undefined
///   ShapeError    - self has fewer than two dimensions, a parameter or statistic has another
///                   shape, or `training` is true and a channel has only one value
///
/// Ioffe and Szegedy, Batch Normalization, 2015, arXiv:1502.03167.
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.batch_norm.html
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

/// Normalises groups of channels to mean 0 and variance 1, then scales and shifts the channels.
///
/// The result is x * weight + bias, where x = (self - mean) / sqrt(var + eps). self has the shape
/// (N, C) or (N, C, d1, ...). Each item has num_groups groups of C / num_groups channels. The mean
/// and the (biased) variance of a group are over all elements of its channels. weight and bias have
/// the shape (C) and self's dtype; either may be undefined. The gradients are layer_norm's, with
/// the mean and the variance of a group.
///
/// Throws:
///   DTypeError - self is not floating, or weight or bias has another dtype
///   ShapeError - num_groups does not divide C, weight or bias has another shape, self has fewer
///                than two dimensions, or a single item has one value per group
///
/// Wu and He, Group Normalization, 2018, arXiv:1803.08494.
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.group_norm.html
Tensor group_norm(const Tensor& self, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

}  // namespace tend
