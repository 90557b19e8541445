/// \file
/// Losses of single items, and their mean or sum, which is 0-d.
///
/// The docstrings give the gradient for the loss of one item. For the mean, gradients are divided
/// by the same number as the sum of the losses. Options may also be given by position, in PyTorch's
/// order, but without its size_average and reduce, which reduction has replaced.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>

namespace tend {

/// The result of a loss function: the losses of all items, their mean or their sum.
enum class Reduction { none, mean, sum };
template <>
inline constexpr std::string_view detail::kWords<Reduction> = "reduction: none mean sum";

/// A Reduction or its word, but not braces.
template <class R>
concept IsReduction = std::convertible_to<const R&, OrWord<Reduction>>;

/// The options of losses that need only a reduction.
struct LossOptions {
  OrWord<Reduction> reduction = Reduction::mean;
};

namespace detail {
/// Adds a weight that was given as an argument to the options. It is a lambda, because tests regard
/// every function in these headers as an operation.
inline constexpr auto with_weight = [](const char* operation, auto options, const Tensor& weight) {
  if (!weight.defined()) return options;
  if (options.weight.defined()) fail(operation, "weight is given twice");
  options.weight = weight;
  return options;
};
}  // namespace detail

/// The options of cross_entropy.
struct CrossEntropyOptions {
  Tensor weight = {};                ///< the weights of the classes, (C); it may be undefined
  std::int64_t ignore_index = -100;  ///< items with this target are left out
  OrWord<Reduction> reduction = Reduction::mean;
  double label_smoothing = 0;  ///< the share of a target that is spread over all classes, in [0, 1]
};

///@{
/// Computes the cross entropy of the targets under p = softmax(logits).
///
/// Logits are (C), (N, C) or (N, C, d1, ...), with the classes in dimension 1, and floating. The
/// result has the shape of the logits without the classes, or is 0-d for a mean or a sum.
///
/// int64 targets (), (N) or (N, d1, ...) name classes. Each is in [0, C) or is ignore_index. The
/// loss of an item is -log p[target]. The mean is over the items that are not ignored. It is NaN if
/// all are ignored.
///
/// Targets of the logits' shape and dtype are probabilities. The loss of an item is -sum_c
/// target[c] log p[c]. These targets also have a gradient, and there is no ignore_index for them.
/// Label smoothing s replaces each target distribution q by (1 - s) q + s / C.
///
/// `weight` (C) multiplies the loss of each class. With class targets, the mean then divides by the
/// sum of the targets' weights. The weight is a constant of the logits' dtype. It may be undefined.
/// It is given as an argument or as an option.
///
/// The gradient of the logits is p - q for the target distribution q, or p sum(w q) - w q with
/// weights w. The gradient of q is -w log p.
///
/// Throws:
///   ShapeError    - the logits are 0-d, or the target or the weight has another shape
///   DTypeError    - the logits are not floating
///   DTypeError    - the target is neither int64 nor of the logits' dtype
///   DTypeError    - the weight does not have the logits' dtype
///   IndexError    - a target is not in [0, C), and is not ignore_index
///   AutogradError - the weight requires grad
///   Error         - the weight is given twice
///   Error         - targets are probabilities, and ignore_index is 0 or more
///   Error         - label_smoothing is not in [0, 1]
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cross_entropy.html
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight,
                     const CrossEntropyOptions& options = {});
template <IsReduction R>
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const R& reduction) {
  return cross_entropy(logits, target, CrossEntropyOptions{.reduction = reduction});
}
///@}

/// The options of nll_loss. They mean the same as for cross_entropy.
struct NllLossOptions {
  Tensor weight = {};
  std::int64_t ignore_index = -100;
  OrWord<Reduction> reduction = Reduction::mean;
};

///@{
/// Computes -log p[target] from the logarithms of probabilities.
///
/// log_probabilities is (C), (N, C) or (N, C, d1, ...), with the classes in dimension 1, and
/// floating. The int64 targets name classes. Their shapes, the weight, ignore_index and the mean
/// are as for cross_entropy with class targets. The gradient is -1 at the target's class, times its
/// weight, and 0 elsewhere.
///
/// Throws:
///   ShapeError    - log_probabilities is 0-d, or the target or the weight has another shape
///   DTypeError    - log_probabilities is not floating, or the target is not int64
///   DTypeError    - the weight does not have the dtype of log_probabilities
///   IndexError    - a target is not in [0, C), and is not ignore_index
///   AutogradError - the weight requires grad
///   Error         - the weight is given twice
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.nll_loss.html
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options = {});
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                const NllLossOptions& options = {});
template <IsReduction R>
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const R& reduction) {
  return nll_loss(log_probabilities, target, NllLossOptions{.reduction = reduction});
}
///@}

}  // namespace tend
