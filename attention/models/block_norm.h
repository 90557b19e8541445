// The normalisation of a block.
#pragma once

#include <string>

#include <tend/attention/models/config.h>
#include <tend/nn/module/module.h>

namespace tend::attention {

/// The normalisation of a block over the last dimension: nn::LayerNorm, nn::RMSNorm, or nothing, as
/// NormKind says. `weight` starts as ones, and `bias`, which only LayerNorm has, as zeros. Without
/// a normalisation both are undefined.
class Norm : public nn::Module<Norm> {
 public:
  /// Throws: ShapeError - the size is negative
  Norm(NormKind norm, std::int64_t size, double epsilon, Flag with_bias = true);

  /// Normalises x, (..., size); the result has the same shape.
  ///
  /// Throws: ShapeError - the last dimension has another size
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  NormKind kind;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);

 private:
  // Computes forward in single operations, so that hooks can read and replace the scale.
  Tensor forward_by_scale(const Tensor& x) const;
};

}  // namespace tend::attention
