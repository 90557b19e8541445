/// \file
/// Convolution.
#pragma once

#include <cstdint>

namespace tend {

class Tensor;

/// How conv1d lays its kernel.
struct Conv1dOptions {
  std::int64_t stride = 1;    ///< between places where the kernel is laid
  std::int64_t padding = 0;   ///< zeros at either end
  std::int64_t dilation = 1;  ///< between elements under the kernel
  std::int64_t groups = 1;    ///< of channels that are convolved apart
};

/// out[n][o][t] = bias[o] + sum over c and k of
/// weight[o][c][k] * input[n][c][t * stride + k * dilation - padding], which is a
/// cross-correlation. The input is (N, C, L) or (C, L), the weight (O, C / groups, K), the bias (O)
/// or undefined; the result (N, O, T) or (O, T) with T = (L + 2 * padding - dilation * (K - 1) - 1)
/// / stride + 1. With groups, C / groups input channels at a time make O / groups of the output.
/// All have one dtype (DTypeError, for bool too); ShapeError where sizes do not fit. For the
/// gradient g of the result, each element of the input gets the sum of g times the weights that it
/// met, each weight that of g times the elements it met, and bias[o] the sum of g's channel o.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.conv1d.html
Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options = {});

}  // namespace tend
