// Normalisation.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// (self - mean) / sqrt(var + eps) * weight + bias, mean and (biased) variance over the last
/// dimensions, whose sizes are `normalized_shape`; ShapeError otherwise, and when there are none.
/// weight and bias have that shape and self's dtype; either may be undefined. Floating only
/// (DTypeError). Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.layer_norm.html
Tensor layer_norm(const Tensor& self, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps = 1e-5);

}  // namespace tend
