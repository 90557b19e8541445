// Conv1d: a convolution along the last dimension.
#pragma once

#include <cstdint>
#include <string>

#include <tend/autograd/ops/conv.h>
#include <tend/nn/module/module.h>

namespace tend::nn {

/// The options of Conv1d: the options of the function conv1d, and `bias`.
struct Conv1dLayerOptions {
  std::int64_t stride = 1;
  Conv1dPadding padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  Flag bias = true;
};

/// A convolution along the last dimension, with a learned kernel (torch.nn.Conv1d).
///
/// weight has the shape (out, in / groups, kernel_size), bias the shape (out). Both start with
/// random numbers from uniform(-b, b), weight first, with b = 1 / sqrt(in / groups * kernel_size).
class Conv1d : public Module<Conv1d> {
 public:
  ///@{
  /// A layer from in_channels to out_channels.
  ///
  /// Throws:
  ///   ShapeError - a size is below 1
  ///   ShapeError - groups does not divide both numbers of channels
  ///   ShapeError - the padding is "same" and the stride is not 1
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         const Conv1dLayerOptions& settings = {});
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size,
         std::int64_t stride, const Conv1dPadding& padding = 0, std::int64_t dilation = 1,
         std::int64_t groups = 1, Flag with_bias = true)
      : Conv1d(in_channels, out_channels, kernel_size,
               Conv1dLayerOptions{stride, padding, dilation, groups, with_bias}) {}
  ///@}

  /// (N, in, L) -> (N, out, T), or (in, L) -> (out, T).
  ///
  /// Throws: ShapeError - the shape of x does not fit
  Tensor forward(const Tensor& x) const;
  std::string extra_repr() const override;

  Conv1dOptions options;
  TEND_PARAMETER(weight);
  TEND_PARAMETER(bias);
};

}  // namespace tend::nn
