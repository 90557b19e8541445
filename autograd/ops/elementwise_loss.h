/// \file
/// Losses of elements: of differences, of two distributions, and the cosine of two vectors.
#pragma once

#include <concepts>
#include <cstdint>

#include <tend/autograd/ops/loss.h>

namespace tend {

/// d^2 for d = input - target, which broadcast (ShapeError; in PyTorch a difference in shape earns
/// a warning, since it is seldom meant) and promote to a floating dtype (DTypeError); one may be
/// bool. The mean of nothing is NaN. The gradient of the input is 2 d, that of the target -2 d.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.mse_loss.html
Tensor mse_loss(const Tensor& input, const Tensor& target, const LossOptions& options = {});
template <IsReduction R>
Tensor mse_loss(const Tensor& input, const Tensor& target, const R& reduction) {
  return mse_loss(input, target, LossOptions{reduction});
}

/// |d| for d = input - target; shapes, dtypes and errors are those of mse_loss. The gradient of the
/// input is sign(d), 0 at 0, that of the target -sign(d).
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.l1_loss.html
Tensor l1_loss(const Tensor& input, const Tensor& target, const LossOptions& options = {});
template <IsReduction R>
Tensor l1_loss(const Tensor& input, const Tensor& target, const R& reduction) {
  return l1_loss(input, target, LossOptions{reduction});
}

/// The options of smooth_l1_loss.
struct SmoothL1LossOptions {
  OrWord<Reduction> reduction = Reduction::mean;
  double beta = 1;  ///< where the loss becomes linear
};
/// d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, for d = input - target; l1_loss for
/// beta = 0, Error for beta < 0. Shapes, dtypes and errors are those of mse_loss. The gradient of
/// the input is d / beta where |d| < beta, sign(d) elsewhere, that of the target its negative.
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
  double delta = 1;  ///< where the loss becomes linear
};
/// d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, for d = input - target; Error
/// unless delta > 0. Shapes, dtypes and errors are those of mse_loss. The gradient of the input is
/// d, clamped to [-delta, delta], that of the target its negative.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.huber_loss.html
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options = {});
template <IsReduction R>
Tensor huber_loss(const Tensor& input, const Tensor& target, const R& reduction, double delta = 1) {
  return huber_loss(input, target, HuberLossOptions{reduction, delta});
}

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

/// c = sum(a b) / (max(|a|, eps) max(|b|, eps)) along `dim` (IndexError) of the inputs, which
/// broadcast (ShapeError) and promote to a floating dtype (DTypeError); |a| is the Euclidean norm.
/// The gradient of a is (b / |b| - c a / |a|) / |a| times that of c, and vice versa. Where a norm
/// is smaller than eps, eps divides instead, but the derivative of the norm is still a / |a| (0 at
/// 0). https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_similarity.html
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);

}  // namespace tend
