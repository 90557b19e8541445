/// \file
/// Losses for yes-or-no targets.
#pragma once

#include <tend/autograd/ops/loss.h>

namespace tend {

/// The options of binary_cross_entropy.
struct BinaryCrossEntropyOptions {
  Tensor weight = {};  ///< multiplies the losses; it may be undefined
  OrWord<Reduction> reduction = Reduction::mean;
};
/// The options of binary_cross_entropy_with_logits.
struct BinaryCrossEntropyWithLogitsOptions {
  Tensor weight = {};  ///< multiplies the losses; it may be undefined
  OrWord<Reduction> reduction = Reduction::mean;
  Tensor pos_weight = {};  ///< multiplies the losses of targets 1; it may be undefined
};

///@{
/// Computes the cross entropy of probabilities: -weight (t log x + (1 - t) log(1 - x)).
///
/// Here x is the input and t the target, both in [0, 1]. They have one shape and one floating
/// dtype. `weight` has their dtype, broadcasts to the input, is a constant and may be undefined.
/// The result has the input's shape, or is 0-d for a mean or a sum. Logarithms are clamped to at
/// least -100, so the loss is finite. The gradient of x is weight (x - t) / max(x (1 - x), 1e-12).
/// The gradient of t is weight (log(1 - x) - log x), without the clamp.
///
/// Throws:
///   Error         - an element of the input or the target is not in [0, 1]
///   ShapeError    - input and target differ in shape
///   ShapeError    - `weight` does not broadcast to the input
///   DTypeError    - input and target do not have one floating dtype
///   DTypeError    - `weight` has another dtype than the input
///   AutogradError - `weight` requires grad
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.binary_cross_entropy.html
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyOptions& options = {});
template <IsReduction R>
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const R& reduction) {
  return binary_cross_entropy(input, target, BinaryCrossEntropyOptions{.reduction = reduction});
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            OrWord<Reduction> reduction = Reduction::mean);
///@}

///@{
/// Computes the cross entropy of logits: -weight (w t log p + (1 - t) log(1 - p)).
///
/// Here p = sigmoid(input), t is the target and w is pos_weight. The loss is computed from log p
/// itself, so that it is precise for large inputs. Targets may be any numbers. Input and target
/// have one shape and one floating dtype. `weight` and `pos_weight` have their dtype, broadcast to
/// the input, are constants and may be undefined. The result has the input's shape, or is 0-d for a
/// mean or a sum. The gradient of the input is weight (p (w t + 1 - t) - w t). The gradient of t is
/// weight (log(1 - p) - w log p).
///
/// Throws:
///   ShapeError    - input and target differ in shape
///   ShapeError    - `weight` or `pos_weight` does not broadcast to the input
///   DTypeError    - input and target do not have one floating dtype
///   DTypeError    - `weight` or `pos_weight` has another dtype than the input
///   AutogradError - `weight` or `pos_weight` requires grad
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.binary_cross_entropy_with_logits.html
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsOptions& options = {});
template <IsReduction R>
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const R& reduction) {
  return binary_cross_entropy_with_logits(
      input, target, BinaryCrossEntropyWithLogitsOptions{.reduction = reduction});
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight = {},
                                        OrWord<Reduction> reduction = Reduction::mean);
///@}

}  // namespace tend
