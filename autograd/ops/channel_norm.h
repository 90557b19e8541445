// Normalization of channels, as batch_norm needs it while training.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// Views values (C) as (C, 1, ...), so that they broadcast with self (N, C, d1, ...).
Tensor per_channel(const Tensor& values, const Tensor& self);
/// Views values such as (1, C, 1, ...) as one dimension (C).
Tensor flattened(const Tensor& values);

/// The mean, variance and 1 / sqrt(variance + eps) of each channel of (N, C, ...). All have shape
/// (1, C, 1, ...).
struct Moments {
  Tensor mean, variance, rstd;  // the variance is a sum divided by n, not by n - 1
};

Moments channel_moments(const Tensor& x, double eps);

/// Computes (x - mean) * rstd * weight + bias, with its gradients. weight and bias may be
/// undefined. `moments` are the moments of x.
Tensor channel_normal(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Moments& moments, double eps);

}  // namespace tend
