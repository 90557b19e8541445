// Root mean square normalisation.
#pragma once

#include <optional>

#include <tend/nn/module.h>

namespace tend::nn {

/// x / sqrt(mean(x^2) + eps) * weight over the last dimensions, whose sizes are `normalized_shape`;
/// eps is the machine epsilon of x's dtype unless given. weight starts as ones (torch.nn.RMSNorm;
/// Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467).
class RMSNorm : public Module<RMSNorm> {
 public:
  explicit RMSNorm(const Shape& normalized_shape, std::optional<double> epsilon = std::nullopt,
                   Flag affine = true);

  /// Keeps the shape; ShapeError when the last dimensions differ from normalized_shape.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Shape normalized_shape;
  std::optional<double> eps;
  TEND_PARAMETER(weight);
};

}  // namespace tend::nn
