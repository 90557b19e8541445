/// \file
/// Losses that are composed of other operations.
#pragma once

#include <concepts>
#include <type_traits>

#include <tend/autograd/ops/loss.h>

namespace tend {

/// Computes the distance between vectors: norm(x1 - x2 + eps, p) over the last dimension.
///
/// eps is added to each difference. The inputs broadcast and have one floating dtype. The result
/// has the same dtype and lacks the last dimension; with keepdim that dimension has size 1. The
/// gradient is the gradient of norm.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not have one floating dtype
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.pairwise_distance.html
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                         Flag keepdim = false);

/// The type of a margin that is a plain number. An argument in braces is read as options instead.
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
/// Penalises pairs in the wrong order: max(0, margin - target (x1 - x2)).
///
/// The target is 1 where x1 should rank higher, and -1 where x2 should. All inputs broadcast and
/// promote to a floating dtype. The result has the common shape, or is 0-d for a mean or a sum.
/// Where the loss is not 0, the gradient of x1 is -target and the gradient of x2 is target. The
/// gradient of the target is x2 - x1 there.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///
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
/// Penalises distances: x for target 1, and max(0, margin - x) for target -1.
///
/// Here x is the input. For any other target the loss is the sum of both. Input and target
/// broadcast; the input is floating. The result has the common shape, or is 0-d for a mean or a
/// sum. The gradient of x is 1 for target 1, and -1 for target -1 where x < margin.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the input is not floating
///
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
/// Penalises angles: 1 - c for target 1, and max(0, c - margin) for target -1.
///
/// Here c is the cosine of the angle between x1 and x2. For any other target the loss is 0. The
/// vectors are (N, D) or (D), of one floating dtype. The targets are (N) or (), one for each pair
/// of vectors. The result has the targets' shape, or is 0-d for a mean or a sum. The derivative
/// with respect to c is -1 for target 1, and 1 for target -1 where the loss is not 0. The gradient
/// of a vector is this derivative times the gradient of c.
///
/// Throws:
///   ShapeError - the shapes of vectors and targets do not fit
///   DTypeError - x1 and x2 do not have one floating dtype
///
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
  double eps = 1e-6;  ///< added to each difference
  Flag swap = false;  ///< use d(positive, negative) where it is smaller than d(anchor, negative)
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// Penalises an anchor that is not closer to the positive than to the negative, by a margin.
///
/// The loss is max(0, margin + d(anchor, positive) - d(anchor, negative)), with d =
/// pairwise_distance. The inputs broadcast and have one floating dtype. The result lacks their last
/// dimension, or is 0-d for a mean or a sum. The gradient is the gradient of the distances, and 0
/// where the loss is 0.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not have one floating dtype
///   Error      - the margin is not above 0
///
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
  double eps = 1e-8;      ///< added to a rate before its logarithm is computed
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// Computes the negative log likelihood of counts under Poisson's distribution, without log(t!).
///
/// With log_input the inputs x are logarithms of rates and the loss is exp(x) - t x, where t is the
/// target. Otherwise the inputs x are rates and the loss is x - t log(x + eps). Both broadcast; the
/// input is floating. The result has the common shape, or is 0-d for a mean or a sum. The gradient
/// of x is exp(x) - t with log_input, and 1 - t / (x + eps) otherwise.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the input is not floating
///
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
      1e-6;  ///< variances are raised to at least eps; the gradient is computed as if they were not
  OrWord<Reduction> reduction = Reduction::mean;
};
///@{
/// Computes the negative log likelihood under a normal distribution, without its constant.
///
/// The loss is (log v + (x - t)^2 / v) / 2 for means x, targets t and variances v. The variances
/// have x's shape, or lack the last dimension, or have size 1 there. The targets broadcast. All are
/// floating. The result has the common shape, or is 0-d for a mean or a sum. The gradient of x is
/// (x - t) / v. The gradient of v is (1 - (x - t)^2 / v) / (2 v).
///
/// Throws:
///   ShapeError - the shape of the variances does not fit, or the targets do not broadcast
///   DTypeError - an input is not floating
///   Error      - a variance is negative
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.gaussian_nll_loss.html
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNllLossOptions& options = {});
template <std::same_as<bool> B>
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, B full,
                         double eps = 1e-6, OrWord<Reduction> reduction = Reduction::mean) {
  return gaussian_nll_loss(input, target, var, GaussianNllLossOptions{full, eps, reduction});
}
///@}

}  // namespace tend
