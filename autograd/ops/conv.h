/// \file
/// Convolution.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// The zeros that conv1d adds: so many at either end, or one of PyTorch's words. "valid" is none,
/// "same" as many as make the result as long as the input, where the stride is 1; of an odd number
/// the last end has one more. Error for another word.
class Conv1dPadding {
 public:
  template <std::convertible_to<Integer> N>
  Conv1dPadding(N zeros) : zeros_(Integer(zeros)) {}
  template <std::convertible_to<std::string_view> Word>
  Conv1dPadding(const Word& word) : is_valid_(is_word_valid(word)), is_same_(!is_valid_) {}

  bool is_same() const noexcept { return is_same_; }
  /// Those at either end, unless it is "same".
  std::int64_t zeros() const noexcept { return zeros_; }
  /// As PyTorch prints it: "(1,)" or the word.
  std::string text() const;

 private:
  static bool is_word_valid(std::string_view word);

  std::int64_t zeros_ = 0;
  bool is_valid_ = false, is_same_ = false;
};

/// Where conv1d applies its kernel.
struct Conv1dOptions {
  std::int64_t stride = 1;    ///< the step from one position of the kernel to the next
  Conv1dPadding padding = 0;  ///< zeros added at either end
  std::int64_t dilation = 1;  ///< the step between the elements under the kernel
  std::int64_t groups = 1;    ///< groups of channels, convolved separately
};

///@{
/// out[n][o][t] = bias[o] + sum over c and k of
/// weight[o][c][k] * input[n][c][t * stride + k * dilation - padding], which is a
/// cross-correlation. The input is (N, C, L) or (C, L), the weight (O, C / groups, K), the bias (O)
/// or undefined; the result (N, O, T) or (O, T) with T =
/// (L + 2 * padding - dilation * (K - 1) - 1) / stride + 1; L with "same", which needs a stride of
/// 1 (ShapeError). With groups, each group of C / groups
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
           const Conv1dPadding& padding = 0, Integer dilation = 1, Integer groups = 1) {
  return conv1d(input, weight, bias, Conv1dOptions{Integer(stride), padding, dilation, groups});
}
///@}

}  // namespace tend
