// Linear: x W^T + b.
#pragma once

#include <tend/nn/module/module.h>

namespace tend::nn {

/// The options of Linear.
struct LinearOptions {
  Flag bias = true;
};

/// An affine map of the last dimension (torch.nn.Linear).
///
/// weight has the shape (out, in), bias the shape (out). Both start with random numbers from
/// uniform(-1/sqrt(in), 1/sqrt(in)), weight first.
class Linear : public Module<Linear> {
 public:
  /// A layer from in_features to out_features.
  ///
  /// Throws: ShapeError - in_features is below 1, or out_features is below 0
  Linear(std::int64_t in_features, std::int64_t out_features, Flag with_bias = true);
  /// The same with options: Linear(2, 3, {.bias = false}).
  Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options)
      : Linear(in_features, out_features, options.bias) {}

  /// (..., in) -> (..., out).
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;
  std::int64_t in_features() const { return weight.size(1); }
  std::int64_t out_features() const { return weight.size(0); }

  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
  // add_lora (lora.h) defines these. forward() then adds lora_scale * lora_B lora_A x to its
  // result.
  TEND_PARAMETER(lora_A);
  TEND_PARAMETER(lora_B);
  double lora_scale = 1.0;
  double lora_dropout = 0.0;
};

}  // namespace tend::nn
