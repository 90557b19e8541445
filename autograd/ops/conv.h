/// \file
/// Convolution.
#pragma once

#include <concepts>
#include <cstdint>

#include <tend/autograd/tensor/tensor.h>

#pragma GCC visibility push(default)

namespace tend {

/// Where conv1d applies its kernel.
struct Conv1dOptions {
  std::int64_t stride = 1;    ///< the step from one position of the kernel to the next
  std::int64_t padding = 0;   ///< zeros added at either end
  std::int64_t dilation = 1;  ///< the step between the elements under the kernel
  std::int64_t groups = 1;    ///< groups of channels, convolved separately
};

///@{
/// out[n][o][t] = bias[o] + sum over c and k of
/// weight[o][c][k] * input[n][c][t * stride + k * dilation - padding], which is a
/// cross-correlation. The input is (N, C, L) or (C, L), the weight (O, C / groups, K), the bias (O)
/// or undefined; the result (N, O, T) or (O, T) with T =
/// (L + 2 * padding - dilation * (K - 1) - 1) / stride + 1. With groups, each group of C / groups
/// input channels gives O / groups output channels. All have one dtype (DTypeError, also for bool);
/// ShapeError where sizes do not fit. With the result's gradient g, that of an input element is the
/// sum of g times the weights it was multiplied by, that of a weight the sum of g times the
/// elements it was multiplied by, and that of bias[o] the sum of g over channel o.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.conv1d.html
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor
    conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, T stride,
           Integer padding = 0, Integer dilation = 1, Integer groups = 1) {
  return conv1d(input, weight, bias, Conv1dOptions{Integer(stride), padding, dilation, groups});
}
///@}

}  // namespace tend

#pragma GCC visibility pop
