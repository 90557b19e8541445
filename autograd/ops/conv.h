/// \file
/// Convolution.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// The zeros that conv1d adds at both ends of the input: a number for each end, "valid" or "same".
///
/// "valid" adds no zeros. "same" adds the number of zeros that makes the result as long as the
/// input; it requires a stride of 1. If this number is odd, one zero more is added after the input
/// than before it.
///
/// Throws: Error - the word is neither "valid" nor "same"
class Conv1dPadding {
 public:
  template <std::convertible_to<Integer> N>
  Conv1dPadding(N zeros) : zeros_(Integer(zeros)) {}
  template <std::convertible_to<std::string_view> Word>
  Conv1dPadding(const Word& word) : is_valid_(is_word_valid(word)), is_same_(!is_valid_) {}

  bool is_same() const noexcept { return is_same_; }
  /// The number of zeros at either end, unless the padding is "same".
  std::int64_t zeros() const noexcept { return zeros_; }
  /// The padding as PyTorch prints it: "(1,)" or the word.
  std::string text() const;

 private:
  static bool is_word_valid(std::string_view word);

  std::int64_t zeros_ = 0;
  bool is_valid_ = false, is_same_ = false;
};

/// The options of conv1d.
struct Conv1dOptions {
  std::int64_t stride = 1;    ///< the step from one position of the kernel to the next
  Conv1dPadding padding = 0;  ///< zeros added at either end
  std::int64_t dilation = 1;  ///< the step between the elements under the kernel
  std::int64_t groups = 1;    ///< groups of channels, convolved separately
};

///@{
/// Convolves the input with the weight along its last dimension, as a cross-correlation.
///
/// out[n][o][t] = bias[o] + sum over c and k of weight[o][c][k] * input[n][c][t * stride + k *
/// dilation - padding].
///
/// The input is (N, C, L) or (C, L), the weight (O, C / groups, K), and the bias (O) or undefined.
/// The result is (N, O, T) or (O, T). With padding "same", T = L. Otherwise:
///
/// T = (L + 2 * padding - dilation * (K - 1) - 1) / stride + 1
///
/// With groups, each group of C / groups input channels gives O / groups output channels. All
/// tensors have one dtype, which is not bool.
///
/// Let g be the result's gradient. The gradient of an input element is the sum of g times the
/// weights that multiply it. The gradient of a weight is the sum of g times the elements that it
/// multiplies. The gradient of bias[o] is the sum of g over channel o.
///
/// Throws:
///   ShapeError - the shapes do not fit, or the kernel is longer than the padded input
///   ShapeError - stride, dilation or groups is below 1, or the padding is negative
///   ShapeError - the padding is "same", and the stride is not 1
///   DTypeError - the dtypes differ, or they are bool
///
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
