// Conv1d: a convolution along the last dimension.
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/conv.h>
#include <tend/nn/module/module.h>

#pragma GCC visibility push(default)

namespace tend::nn {

/// conv1d with a learned kernel (torch.nn.Conv1d). weight (out, in / groups, kernel_size) and bias
/// (out) are drawn, in this order, from uniform(-b, b) with b = 1 / sqrt(in / groups *
/// kernel_size).
class Conv1d : public Module<Conv1d> {
 public:
  /// ShapeError unless the sizes are at least 1 and groups divides both numbers of channels.
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         const Conv1dOptions& settings = {}, Flag with_bias = true);

  /// (N, in, L) -> (N, out, T), or without N; ShapeError where sizes do not fit.
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Conv1dOptions options;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

}  // namespace tend::nn

#pragma GCC visibility pop
