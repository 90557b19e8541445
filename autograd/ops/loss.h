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

/// The options of cross_entropy.
struct CrossEntropyOptions {
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
/// dtype, and may be undefined.
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
///@}

/// The options of nll_loss, as those of cross_entropy.
struct NllLossOptions {
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
///@}

/// d^2 for d = input - target, which broadcast (ShapeError; in PyTorch a difference in shape earns
/// a warning, since it is seldom meant) and promote to a floating dtype (DTypeError); one may be
/// bool. The mean of nothing is NaN. The gradient of the input is 2 d, that of the target -2 d.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.mse_loss.html
Tensor mse_loss(const Tensor& input, const Tensor& target,
                OrWord<Reduction> reduction = Reduction::mean);

/// |d| for d = input - target; shapes, dtypes and errors are those of mse_loss. The gradient of the
/// input is sign(d), 0 at 0, that of the target -sign(d).
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.l1_loss.html
Tensor l1_loss(const Tensor& input, const Tensor& target,
               OrWord<Reduction> reduction = Reduction::mean);

/// d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, for d = input - target; l1_loss for
/// beta = 0, Error for beta < 0. Shapes, dtypes and errors are those of mse_loss. The gradient of
/// the input is d / beta where |d| < beta, sign(d) elsewhere, that of the target its negative.
/// Girshick, Fast R-CNN, 2015, arXiv:1504.08083.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.smooth_l1_loss.html
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      OrWord<Reduction> reduction = Reduction::mean, double beta = 1);

/// d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, for d = input - target; Error
/// unless delta > 0. Shapes, dtypes and errors are those of mse_loss. The gradient of the input is
/// d, clamped to [-delta, delta], that of the target its negative.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.huber_loss.html
Tensor huber_loss(const Tensor& input, const Tensor& target,
                  OrWord<Reduction> reduction = Reduction::mean, double delta = 1);

/// The reductions of kl_div. batchmean divides the sum by the size of the input's first dimension,
/// as in the mathematical definition.
enum class KlReduction { none, mean, sum, batchmean };
template <>
inline constexpr std::string_view detail::kWords<KlReduction> =
    "reduction: none mean sum batchmean";

/// A KlReduction, its word, or what Reduction calls the same.
struct OrReduction : OrWord<KlReduction> {
  using OrWord<KlReduction>::OrWord;
  constexpr OrReduction(Reduction value) noexcept : OrWord(static_cast<KlReduction>(value)) {}
};

/// How kl_div reads its target and reduces its terms.
struct KlDivOptions {
  OrReduction reduction = KlReduction::mean;
  Flag log_target = false;  ///< the target holds logarithms of probabilities too
};

///@{
/// The terms of the Kullback-Leibler divergence of the target from `log_probabilities`:
/// t (log t - x) for inputs x and targets t, 0 where t = 0; with log_target, exp(t) (t - x). Both
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError); ShapeError for a batchmean
/// of a 0-d input. The gradient of x is -t, that of t is log t + 1 - x (NaN at t = 0, as in
/// PyTorch). With log_target they are -exp(t) and exp(t) (t + 1 - x).
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.kl_div.html
Tensor kl_div(const Tensor& log_probabilities, const Tensor& target,
              const KlDivOptions& options = {});
template <std::convertible_to<OrReduction> R>
Tensor kl_div(const Tensor& log_probabilities, const Tensor& target, const R& reduction,
              Flag log_target = false) {
  return kl_div(log_probabilities, target, KlDivOptions{reduction, log_target});
}
///@}

///@{
/// -weight (t log x + (1 - t) log(1 - x)) of probabilities x and targets t, all of them in [0, 1]
/// (Error), in one shape (ShapeError) and one floating dtype (DTypeError). Logarithms are clamped
/// to at least -100, so the loss is finite. `weight` broadcasts to the input (ShapeError), has its
/// dtype (DTypeError), is a constant (AutogradError when it requires grad) and may be undefined.
/// The gradient of x is weight (x - t) / max(x (1 - x), 1e-12), that of t is weight
/// (log(1 - x) - log x), without the clamp.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.binary_cross_entropy.html
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            OrWord<Reduction> reduction = Reduction::mean);
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
                                        OrWord<Reduction> reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight = {},
                                        OrWord<Reduction> reduction = Reduction::mean);
///@}

/// c = sum(a b) / (max(|a|, eps) max(|b|, eps)) along `dim` (IndexError) of the inputs, which
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError); |a| is the Euclidean norm.
/// The gradient of a is (b / |b| - c a / |a|) / |a| times that of c, and vice versa. Where a norm
/// is smaller than eps, eps divides instead, but the derivative of the norm is still a / |a| (0 at
/// 0). https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_similarity.html
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);

/// norm(x1 - x2 + eps, p) over the last dimension, with eps added to each difference. The inputs
/// broadcast (ShapeError) and are floating, of one dtype (DTypeError). The gradient is that of
/// norm. https://pytorch.org/docs/2.6/generated/torch.nn.functional.pairwise_distance.html
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         Flag keepdim = false);

/// max(0, margin - target (x1 - x2)) for targets 1, where x1 should rank higher, and -1. All
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError). Where the loss is not 0 the
/// gradient of x1 is -target, that of x2 target, and that of target x2 - x1.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.margin_ranking_loss.html
Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           double margin = 0, OrWord<Reduction> reduction = Reduction::mean);

/// The distance x for targets 1, max(0, margin - x) for targets -1, the sum of both for others.
/// Both broadcast (ShapeError); the input is floating (DTypeError). The gradient of x is 1, or -1
/// where x < margin.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.hinge_embedding_loss.html
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin = 1,
                            OrWord<Reduction> reduction = Reduction::mean);

/// 1 - c for targets 1, max(0, c - margin) for targets -1, 0 for others, where c is the cosine of
/// the angle between vectors x1 and x2, (N, D) or (D), which have one floating dtype (DTypeError)
/// and one target each, (N) or () (ShapeError). The gradient is that of c.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_embedding_loss.html
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             double margin = 0, OrWord<Reduction> reduction = Reduction::mean);

/// The options of triplet_margin_loss.
struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       ///< the order of the norm
  double eps = 1e-6;  ///< is added to each difference
  Flag swap = false;  ///< take the distance of the positive to the negative where that is smaller
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// max(0, margin + d(anchor, positive) - d(anchor, negative)) with d = pairwise_distance, and its
/// errors. The gradient is that of the distances, 0 where the loss is 0.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.triplet_margin_loss.html
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options = {});
template <class T>
requires std::floating_point<T> || std::same_as<T, int> Tensor triplet_margin_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative, T margin, double p = 2,
    double eps = 1e-6, Flag swap = false, OrWord<Reduction> reduction = Reduction::mean) {
  return triplet_margin_loss(
      anchor, positive, negative,
      TripletMarginLossOptions{static_cast<double>(margin), p, eps, swap, reduction});
}
///@}

/// The options of poisson_nll_loss.
struct PoissonNllLossOptions {
  Flag log_input = true;  ///< the input is the logarithm of the rate
  Flag full = false;      ///< adds Stirling's approximation of log(target!) for targets above 1
  double eps = 1e-8;      ///< is added to the rate before its logarithm is taken
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// exp(x) - t x for the logarithms x of rates and the targets t, or x - t log(x + eps) for rates x:
/// the negative logarithm of t's probability under Poisson's distribution, but for log(t!). Both
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError). The gradient of x is
/// exp(x) - t, or 1 - t / (x + eps).
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.poisson_nll_loss.html
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNllLossOptions& options = {});
template <std::same_as<bool> B>
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, B log_input, Flag full = false,
                        double eps = 1e-8, OrWord<Reduction> reduction = Reduction::mean) {
  return poisson_nll_loss(input, target, PoissonNllLossOptions{log_input, full, eps, reduction});
}
///@}

/// The options of gaussian_nll_loss.
struct GaussianNllLossOptions {
  Flag full = false;  ///< adds log(2 pi) / 2
  double eps =
      1e-6;  ///< variances are at least this; the gradient passes as if they were not raised
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// (log v + (x - t)^2 / v) / 2 for means x, targets t and variances v: the negative logarithm of
/// t's density under the normal distribution, but for a constant. v has x's shape, or lacks the
/// last dimension, or has 1 there; t broadcasts (ShapeError). All are floating (DTypeError); Error
/// for a negative variance. The gradient of x is (x - t) / v, that of v (1 - (x - t)^2 / v) / (2
/// v). https://pytorch.org/docs/2.6/generated/torch.nn.functional.gaussian_nll_loss.html
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNllLossOptions& options = {});
template <std::same_as<bool> B>
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, B full,
                         double eps = 1e-6, OrWord<Reduction> reduction = Reduction::mean) {
  return gaussian_nll_loss(input, target, var, GaussianNllLossOptions{full, eps, reduction});
}
///@}

}  // namespace tend
