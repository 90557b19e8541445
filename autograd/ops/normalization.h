// Normalisation.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array.h>

namespace tend {

class Tensor;

// Floating inputs only (DTypeError). weight and bias have the input's dtype (DTypeError) and the
// shape that is stated (ShapeError); either may be undefined.

/// (self - mean) / sqrt(var + eps) * weight + bias, mean and (biased) variance over the last
/// dimensions, whose sizes are `normalized_shape`; ShapeError otherwise, and when there are none.
/// weight and bias have that shape. Ba, Kiros and Hinton, Layer Normalization, 2016,
/// arXiv:1607.06450. https://pytorch.org/docs/2.6/generated/torch.nn.functional.layer_norm.html
Tensor layer_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5);

/// self / sqrt(mean(self^2) + eps) * weight, the mean over the last dimensions, whose sizes are
/// `normalized_shape`; ShapeError otherwise, and when there are none. weight has that shape. eps is
/// the dtype's machine epsilon unless given. Zhang and Sennrich, Root Mean Square Layer
/// Normalization, 2019, arXiv:1910.07467.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.rms_norm.html
Tensor rms_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps = std::nullopt);

struct BatchNormOptions {
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
};

/// (self - mean) / sqrt(var + eps) * weight + bias for self (N, C) or (N, C, d1, ...); weight,
/// bias, running_mean and running_var are (C).
///
/// While training, mean and (biased) variance are those of each channel over all other dimensions,
/// which must give more than one value (ShapeError). Those running statistics that are defined are
/// updated in place, as constants: running = (1 - momentum) running + momentum batch, with the
/// unbiased variance; a batch of nothing updates nothing. Otherwise mean and variance are the
/// running statistics (Error when one is undefined). Ioffe and Szegedy, Batch Normalization, 2015,
/// arXiv:1502.03167. https://pytorch.org/docs/2.6/generated/torch.nn.functional.batch_norm.html
Tensor batch_norm(const Tensor& self, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, const BatchNormOptions& options = {});

/// (self - mean) / sqrt(var + eps) * weight + bias for self (N, C) or (N, C, d1, ...), mean and
/// (biased) variance of each item over a group of C / num_groups channels and all that they hold;
/// ShapeError unless num_groups divides C, and when all is one value. weight and bias are (C). Wu
/// and He, Group Normalization, 2018, arXiv:1803.08494.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.group_norm.html
Tensor group_norm(const Tensor& self, std::int64_t num_groups, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5);

}  // namespace tend
