// Conv1d: a convolution along the last dimension.
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/conv.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// Those of conv1d, and whether there is a bias.
struct Conv1dLayerOptions {
  std::int64_t stride = 1;
  Conv1dPadding padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  Flag bias = true;
};

/// conv1d with a learned kernel (torch.nn.Conv1d). weight (out, in / groups, kernel_size) and bias
/// (out) are drawn, in this order, from uniform(-b, b) with b = 1 / sqrt(in / groups *
/// kernel_size).
class Conv1d : public Module<Conv1d> {
 public:
  ///@{
  /// ShapeError unless the sizes are at least 1 and groups divides both numbers of channels, and
  /// for the padding "same" with a stride.
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         const Conv1dLayerOptions& settings = {});
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         std::int64_t stride, const Conv1dPadding& padding = 0, std::int64_t dilation = 1,
         std::int64_t groups = 1, Flag with_bias = true)
      : Conv1d(in_channels, out_channels, kernel_size,
               Conv1dLayerOptions{stride, padding, dilation, groups, with_bias}) {}
  ///@}

  /// (N, in, L) -> (N, out, T), or without N; ShapeError where sizes do not fit.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Conv1dOptions options;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

}  // namespace tend::nn
