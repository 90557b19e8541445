#include <tend/autograd/ops/composed_loss.h>

#include <cmath>
#include <numbers>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend {

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, Flag keepdim) {
  check_one_dtype("pairwise_distance", x1, x2);
  broadcast_shapes("pairwise_distance", x1.shape(), x2.shape());
  return norm(x1 - x2 + eps, p, {-1}, keepdim);
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const MarginLossOptions& options) {
  const Shape pairs = broadcast_shapes("margin_ranking_loss", x1.shape(), x2.shape());
  broadcast_shapes("margin_ranking_loss", target.shape(), pairs);
  const Tensor losses = clamp_min(options.margin - target * (x1 - x2), 0);
  check_floating("margin_ranking_loss", losses);
  return reduce_losses(losses, options.reduction);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossOptions& options) {
  check_floating("hinge_embedding_loss", input);
  const Tensor near = where(target != -1, input, 0);
  const Tensor far = where(target != 1, clamp_min(options.margin - input, 0), 0);
  return reduce_losses(near + far, options.reduction);
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             const MarginLossOptions& options) {
  check_one_dtype("cosine_embedding_loss", x1, x2);
  check_floating("cosine_embedding_loss", x1);
  if (x1.dim() < 1 || x1.dim() > 2 || x2.dim() != x1.dim() || target.dim() != x1.dim() - 1) {
    fail<ShapeError>("cosine_embedding_loss",
                     "needs vectors (N, D) with targets (N), or vectors (D) with a target (), got ",
                     x1.shape(), ", ", x2.shape(), " and ", target.shape());
  }
  constexpr double kTiny = 1e-12;
  const Tensor square1 = sum(x1 * x1, {-1}) + kTiny, square2 = sum(x2 * x2, {-1}) + kTiny;
  const Tensor cosine = sum(x1 * x2, {-1}) / sqrt(square1 * square2);
  const Tensor near = where(target == 1, 1 - cosine, 0);
  const Tensor far = where(target == -1, clamp_min(cosine - options.margin, 0), 0);
  return reduce_losses(near + far, options.reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options) {
  if (!(options.margin > 0))
    fail("triplet_margin_loss", "the margin is ", options.margin, ", which must be positive");
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, options.p, options.eps);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  return reduce_losses(clamp_min(options.margin + near - far, 0), options.reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNllLossOptions& options) {
  check_floating("poisson_nll_loss", input);
  Tensor losses =
      options.log_input ? exp(input) - target * input : input - target * log(input + options.eps);
  if (options.full) {
    const Tensor has_none = target <= 1, t = masked_fill(target, has_none, 1);
    const Tensor stirling = t * log(t) - t + 0.5 * log(2 * std::numbers::pi * t);
    losses = losses + masked_fill(stirling, has_none, 0);
  }
  return reduce_losses(losses, options.reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNllLossOptions& options) {
  for (const Tensor* each : {&input, &target, &var}) check_floating("gaussian_nll_loss", *each);
  if (any(var < 0).item<bool>()) fail("gaussian_nll_loss", "a variance is negative");
  const bool per_row = var.dim() + 1 == input.dim();
  const Tensor variance = per_row ? unsqueeze(var, -1).clone() : var.clone();
  Shape one_per_row = input.shape();
  if (!one_per_row.empty()) one_per_row[one_per_row.rank() - 1] = 1;
  if (variance.shape() != input.shape() && variance.shape() != one_per_row)
    fail<ShapeError>("gaussian_nll_loss", "the variances must have the shape of the input ",
                     input.shape(), ", or lack the last dimension, or have size 1 there, got ",
                     var.shape());
  {
    const NoGradGuard no_grad;
    variance.clamp_min_(options.eps);
  }
  const Tensor distance = input - target;
  Tensor losses = 0.5 * (log(variance) + distance * distance / variance);
  if (options.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return reduce_losses(losses, options.reduction);
}

}  // namespace tend
