/// \file
/// Losses that are composed of other operations.
#pragma once

#include <concepts>
#include <type_traits>

#include <tend/autograd/ops/loss.h>

namespace tend {

/// norm(x1 - x2 + eps, p) over the last dimension, with eps added to each difference. The inputs
/// broadcast (ShapeError) and are floating, of one dtype (DTypeError). The gradient is that of
/// norm. https://pytorch.org/docs/2.6/generated/torch.nn.functional.pairwise_distance.html
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         Flag keepdim = false);

/// A margin by position; braces are options.
template <class T>
concept IsMargin = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// The options of margin_ranking_loss and cosine_embedding_loss.
struct MarginLossOptions {
  double margin = 0;
  OrWord<Reduction> reduction = Reduction::mean;
};
/// The options of hinge_embedding_loss.
struct HingeEmbeddingLossOptions {
  double margin = 1;
  OrWord<Reduction> reduction = Reduction::mean;
};

///@{
/// max(0, margin - target (x1 - x2)) for targets 1, where x1 should rank higher, and -1. All
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError). Where the loss is not 0 the
/// gradient of x1 is -target, that of x2 target, and that of target x2 - x1.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.margin_ranking_loss.html
Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const MarginLossOptions& options = {});
template <IsMargin T>
Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, T margin,
                           OrWord<Reduction> reduction = Reduction::mean) {
  return margin_ranking_loss(x1, x2, target,
                             MarginLossOptions{static_cast<double>(margin), reduction});
}
///@}

///@{
/// The distance x for targets 1, max(0, margin - x) for targets -1, the sum of both for others.
/// Both broadcast (ShapeError); the input is floating (DTypeError). The gradient of x is 1, or -1
/// where x < margin.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.hinge_embedding_loss.html
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossOptions& options = {});
template <IsMargin T>
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, T margin,
                            OrWord<Reduction> reduction = Reduction::mean) {
  return hinge_embedding_loss(input, target,
                              HingeEmbeddingLossOptions{static_cast<double>(margin), reduction});
}
///@}

///@{
/// 1 - c for targets 1, max(0, c - margin) for targets -1, 0 for others, where c is the cosine of
/// the angle between vectors x1 and x2, (N, D) or (D), which have one floating dtype (DTypeError)
/// and one target each, (N) or () (ShapeError). The gradient is that of c.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_embedding_loss.html
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             const MarginLossOptions& options = {});
template <IsMargin T>
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, T margin,
                             OrWord<Reduction> reduction = Reduction::mean) {
  return cosine_embedding_loss(x1, x2, target,
                               MarginLossOptions{static_cast<double>(margin), reduction});
}
///@}

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
/// errors; Error unless the margin is above 0. The gradient is that of the distances, 0 where the
/// loss is 0.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.triplet_margin_loss.html
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options = {});
template <IsMargin T>
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           T margin, double p = 2, double eps = 1e-6, Flag swap = false,
                           OrWord<Reduction> reduction = Reduction::mean) {
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
