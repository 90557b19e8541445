/// \file
/// Losses that are computed element by element, the Kullback-Leibler divergence, and the cosine
/// similarity.
#pragma once

#include <concepts>
#include <cstdint>

#include <tend/autograd/ops/loss.h>

namespace tend {

/// Computes the squared error d^2, where d = input - target.
///
/// Input and target broadcast and promote to a floating dtype; one of them may be bool. If the
/// shapes differ, which is often a mistake, PyTorch warns; tend does not. The result has the common
/// shape, or is 0-d for a mean or a sum. The mean of no elements is NaN. The gradient of the input
/// is 2 d, and the gradient of the target is -2 d.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.mse_loss.html
Tensor mse_loss(const Tensor& input, const Tensor& target, const LossOptions& options = {});
template <IsReduction R>
Tensor mse_loss(const Tensor& input, const Tensor& target, const R& reduction) {
  return mse_loss(input, target, LossOptions{reduction});
}

/// Computes the absolute error |d|, where d = input - target.
///
/// Input and target broadcast and promote to a floating dtype; one of them may be bool. The result
/// has the common shape, or is 0-d for a mean or a sum. The gradient of the input is sign(d), which
/// is 0 at 0. The gradient of the target is -sign(d).
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.l1_loss.html
Tensor l1_loss(const Tensor& input, const Tensor& target, const LossOptions& options = {});
template <IsReduction R>
Tensor l1_loss(const Tensor& input, const Tensor& target, const R& reduction) {
  return l1_loss(input, target, LossOptions{reduction});
}

/// The options of smooth_l1_loss.
struct SmoothL1LossOptions {
  OrWord<Reduction> reduction = Reduction::mean;
  double beta = 1;  ///< the loss is linear where |input - target| >= beta
};
/// Computes an error that is squared where it is small, and absolute where it is large.
///
/// For d = input - target it is d^2 / (2 beta) where |d| < beta, and |d| - beta / 2 elsewhere. For
/// beta = 0 it is l1_loss. Input and target broadcast and promote to a floating dtype; one of them
/// may be bool. The result has the common shape, or is 0-d for a mean or a sum. The gradient of the
/// input is d / beta where |d| < beta, and sign(d) elsewhere. The gradient of the target is its
/// negative.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///   Error      - beta is negative
///
/// Girshick, Fast R-CNN, 2015, arXiv:1504.08083.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.smooth_l1_loss.html
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossOptions& options = {});
template <IsReduction R>
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const R& reduction,
                      double beta = 1) {
  return smooth_l1_loss(input, target, SmoothL1LossOptions{reduction, beta});
}

/// The options of huber_loss.
struct HuberLossOptions {
  OrWord<Reduction> reduction = Reduction::mean;
  double delta = 1;  ///< the loss is linear where |input - target| > delta
};
/// Computes an error that is squared up to delta, and linear beyond it.
///
/// For d = input - target it is d^2 / 2 where |d| <= delta, and delta (|d| - delta / 2) elsewhere.
/// Input and target broadcast and promote to a floating dtype; one of them may be bool. The result
/// has the common shape, or is 0-d for a mean or a sum. The gradient of the input is d, clamped to
/// [-delta, delta]. The gradient of the target is its negative.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///   Error      - delta is not above 0
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.huber_loss.html
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options = {});
template <IsReduction R>
Tensor huber_loss(const Tensor& input, const Tensor& target, const R& reduction, double delta = 1) {
  return huber_loss(input, target, HuberLossOptions{reduction, delta});
}

/// The reductions of kl_div. batchmean divides the sum by the size of the input's first dimension,
/// as the mathematical definition does.
enum class KlReduction { none, mean, sum, batchmean };
template <>
inline constexpr std::string_view detail::kWords<KlReduction> =
    "reduction: none mean sum batchmean";

/// A KlReduction, its word, or the Reduction of the same name.
struct OrReduction : OrWord<KlReduction> {
  using OrWord<KlReduction>::OrWord;
  constexpr OrReduction(Reduction value) noexcept : OrWord(static_cast<KlReduction>(value)) {}
};

/// How kl_div reads its target and reduces its terms.
struct KlDivOptions {
  OrReduction reduction = KlReduction::mean;
  Flag log_target = false;  ///< the target is logarithms of probabilities, too
};

///@{
/// Computes the terms of the Kullback-Leibler divergence of the target from `log_probabilities`.
///
/// With inputs x and targets t, a term is t (log t - x), and 0 where t = 0. With log_target it is
/// exp(t) (t - x). Both broadcast and promote to a floating dtype. The result has the common shape,
/// or is 0-d if it is reduced.
///
/// The gradient of x is -t. The gradient of t is log t + 1 - x, which is NaN at t = 0, as in
/// PyTorch. With log_target the gradients are -exp(t) and exp(t) (t + 1 - x).
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   ShapeError - the reduction is batchmean, and the input is 0-d
///   DTypeError - the inputs do not promote to a floating dtype
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.kl_div.html
Tensor kl_div(const Tensor& log_probabilities, const Tensor& target,
              const KlDivOptions& options = {});
template <std::convertible_to<OrReduction> R>
Tensor kl_div(const Tensor& log_probabilities, const Tensor& target, const R& reduction,
              Flag log_target = false) {
  return kl_div(log_probabilities, target, KlDivOptions{reduction, log_target});
}
///@}

/// Computes the cosine of the angle between a and b along `dim`.
///
/// This is c = sum(a b) / (max(|a|, eps) max(|b|, eps)), where |a| is the Euclidean norm. The
/// inputs broadcast and promote to a floating dtype. The result lacks `dim`.
///
/// With the result's gradient g, the gradient of a is g (b / |b| - c a / |a|) / |a|, and vice
/// versa. Where a norm is smaller than eps, the division is by eps, but the derivative of the norm
/// is still a / |a| (0 at 0).
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the inputs do not promote to a floating dtype
///   IndexError - `dim` is out of range
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_similarity.html
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);

}  // namespace tend
