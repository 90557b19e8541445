/// \file
/// Losses of single items, and their mean or sum (0-d). Gradients are given for the loss of one
/// item; for the mean, they are divided by the same number as the sum of the losses. Options may be
/// given by position, too, in PyTorch's order but without its size_average and reduce, which
/// reduction has replaced.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/strict.h>
#include <tend/core/base/words.h>

namespace tend {

/// What a loss function returns: the losses of all items, their mean or their sum.
enum class Reduction { none, mean, sum };
template <>
inline constexpr std::string_view detail::kWords<Reduction> = "reduction: none mean sum";

/// A Reduction or its word, and no braces.
template <class R>
concept IsReduction = std::convertible_to<const R&, OrWord<Reduction>>;

/// The options of losses that have no others.
struct LossOptions {
  OrWord<Reduction> reduction = Reduction::mean;
};

namespace detail {
/// The options with a weight that was given beside them. No function, as those are operations here.
inline constexpr auto with_weight = [](const char* operation, auto options, const Tensor& weight) {
  if (!weight.defined()) return options;
  if (options.weight.defined()) fail(operation, "weight is given twice");
  options.weight = weight;
  return options;
};
}  // namespace detail

/// The options of cross_entropy.
struct CrossEntropyOptions {
  Tensor weight = {};                ///< of each class, (C); it may be undefined
  std::int64_t ignore_index = -100;  ///< items with this target are left out
  OrWord<Reduction> reduction = Reduction::mean;
  double label_smoothing = 0;  ///< the share of a target that is spread over all classes, in [0, 1]
};

///@{
/// The cross entropy of the targets under p = softmax(logits). Logits are (C), (N, C) or
/// (N, C, d1, ...), with the classes in dimension 1.
///
/// int64 targets (), (N) or (N, d1, ...) name classes, all of them ignore_index or in [0, C):
/// -log p[target]. The mean is over the items that are not ignored, NaN if all are. Targets of the
/// logits' shape and dtype are probabilities: -sum_c target[c] log p[c]; they have a gradient too,
/// and no ignore_index (Error). Label smoothing replaces each target distribution q by
/// (1 - s) q + s / C.
///
/// `weight` (C) multiplies the loss of each class; the mean over class targets is then over the
/// sum of their weights. It is a constant (AutogradError when it requires grad), of the logits'
/// dtype, and may be undefined. It is an argument or an option (Error when both are given).
///
/// ShapeError for 0-d logits and targets or weights of another shape, DTypeError for other dtypes
/// (logits are floating), IndexError for a class out of range, Error for label_smoothing outside of
/// [0, 1]. The gradient of the logits is p - q for the target distribution q, or p sum(w q) - w q
/// with weights w; that of q is -w log p.
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

/// The options of nll_loss, as those of cross_entropy.
struct NllLossOptions {
  Tensor weight = {};
  std::int64_t ignore_index = -100;
  OrWord<Reduction> reduction = Reduction::mean;
};

///@{
/// -log p[target] for the logarithms of probabilities, (C), (N, C) or (N, C, d1, ...), and int64
/// targets that name classes; shapes, weight, ignore_index, the mean and the errors are those of
/// cross_entropy. The gradient is -1 at the target's class, times its weight, and 0 elsewhere.
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
