// Layer normalisation.
#pragma once

#include <tend/nn/module.h>

namespace tend::nn {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, whose sizes are
/// `normalized_shape`; the variance is the biased one. weight starts as ones and bias as zeros
/// (torch.nn.LayerNorm; Ba et al. 2016, https://arxiv.org/abs/1607.06450).
class LayerNorm : public Module<LayerNorm> {
 public:
  explicit LayerNorm(const Shape& normalized_shape, double epsilon = 1e-5, Flag affine = true);

  /// Keeps the shape; ShapeError when the last dimensions differ from normalized_shape.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Shape normalized_shape;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

}  // namespace tend::nn
