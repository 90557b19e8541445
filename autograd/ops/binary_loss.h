/// \file
/// Losses of answers that are yes or no.
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
/// -weight (t log x + (1 - t) log(1 - x)) of probabilities x and targets t, all of them in [0, 1]
/// (Error), in one shape (ShapeError) and one floating dtype (DTypeError). Logarithms are clamped
/// to at least -100, so the loss is finite. `weight` broadcasts to the input (ShapeError), has its
/// dtype (DTypeError), is a constant (AutogradError when it requires grad) and may be undefined.
/// The gradient of x is weight (x - t) / max(x (1 - x), 1e-12), that of t is weight
/// (log(1 - x) - log x), without the clamp.
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
/// -weight (w t log p + (1 - t) log(1 - p)) for p = sigmoid(input), targets t and w = pos_weight,
/// computed from log p itself, so that it is precise for large inputs. Targets may be any numbers.
/// Shapes, dtypes and errors are those of binary_cross_entropy; pos_weight has the rules of weight.
/// The gradient of the input is weight (p (w t + 1 - t) - w t), that of t is
/// weight (log(1 - p) - w log p).
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
