// The normalisation of channels in batch_norm's training.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// (C) as (C, 1, ...), to broadcast with (N, C, d1, ...).
Tensor per_channel(const Tensor& values, const Tensor& self);
/// The other way.
Tensor flattened(const Tensor& values);

/// Of each channel of (N, C, ...), all of shape (1, C, 1, ...).
struct Moments {
  Tensor mean, variance, rstd;  // variance: without correction
};

Moments channel_moments(const Tensor& x, double eps);

/// (x - mean) * rstd * weight + bias, with its gradients; weight and bias may be undefined.
/// `moments` are those of x.
Tensor channel_normal(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const Moments& moments, double eps);

}  // namespace tend
