// The normalisation of a block.
#pragma once

#include <string>

#include <tend/attention/models/config.h>
#include <tend/nn/module/module.h>

namespace tend::attention {

/// nn::LayerNorm or nn::RMSNorm over the last dimension, or nothing, whichever a model's
/// configuration names. weight starts as ones, bias (of LayerNorm alone) as zeros; without a norm
/// both are undefined.
class Norm : public nn::Module<Norm> {
 public:
  /// ShapeError for a negative size.
  Norm(NormKind norm, std::int64_t size, double epsilon, Flag with_bias = true);

  /// Keeps the shape; ShapeError when the last dimension has another size.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  NormKind kind;
  double eps;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);

 private:
  // In steps, where the scale is heard.
  Tensor forward_by_scale(const Tensor& x) const;
};

}  // namespace tend::attention
