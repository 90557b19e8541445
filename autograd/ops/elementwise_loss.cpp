#include <tend/autograd/ops/elementwise_loss.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend {
namespace {

using kernels::PairFormula, kernels::TripleFormula;

void check_pair(const char* operation, const Tensor& input, const Tensor& target) {
  if (!is_floating(result_type(input.array(), target.array()))) {
    fail<DTypeError>(operation, "needs float32 or float64, got ", input.dtype(), " and ",
                     target.dtype());
  }
  broadcast_shapes(operation, input.shape(), target.shape());
}

// input - target, where either of them may be bool.
Tensor difference_of(const Tensor& input, const Tensor& target) {
  const DType dtype = result_type(input.array(), target.array());
  const auto number = [dtype](const Tensor& x) { return x.dtype() == boolean ? to(x, dtype) : x; };
  return number(input) - number(target);
}

// A loss of d = input - target. Its formula and the formula of its derivative share a parameter.
struct DifferenceLoss {
  const char* node;
  PairFormula losses;
  TripleFormula slopes;
  double bound = 0;
};

// Records the loss as one node. `slope` returns the derivative at d in a form that can be
// differentiated.
template <class Slope>
Tensor difference_loss(const DifferenceLoss& loss, const Tensor& input, const Tensor& target,
                       Reduction reduction, Slope slope,
                       const char* operation = __builtin_FUNCTION()) {
  const DType dtype = result_type(input.array(), target.array());
  const Tensor losses = computed(loss.losses, {loss.bound}, dtype, input, target);
  return record(
      loss.node, reduce_losses(losses, reduction).array(), {input, target}, {input, target},
      [=, count = losses.numel()](Derivative& d) {
        const Tensor x = d.saved(0), y = d.saved(1);
        const Tensor share = share_of_losses(d.grad(), reduction, count);
        const Tensor grad = grad_enabled()
                                ? slope(difference_of(x, y)) * share
                                : computed(loss.slopes, {loss.bound}, dtype, share, x, y);
        if (d.needs(0)) d.set(0, grad);
        if (d.needs(1)) d.set(1, -grad);
      },
      operation);
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, const LossOptions& options) {
  check_pair("mse_loss", input, target);
  const DifferenceLoss loss{"MseLossBackward0", PairFormula::squared_difference,
                            TripleFormula::squared_difference_backward};
  return difference_loss(loss, input, target, options.reduction,
                         [](const Tensor& d) { return d * 2; });
}

Tensor l1_loss(const Tensor& input, const Tensor& target, const LossOptions& options) {
  check_pair("l1_loss", input, target);
  const DifferenceLoss loss{"AbsBackward0", PairFormula::absolute_difference,
                            TripleFormula::absolute_difference_backward};
  const Tensor losses = difference_loss(loss, input, target, Reduction::none,
                                        [](const Tensor& d) { return sign(d); });
  return reduce_losses(losses, options.reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossOptions& options) {
  const auto [reduction, beta] = options;
  if (!(beta >= 0)) fail("smooth_l1_loss", "beta is ", beta, ", which must not be negative");
  check_pair("smooth_l1_loss", input, target);
  const bool is_zero = result_type(input.array(), target.array()) == float32
                           ? static_cast<float>(beta) == 0
                           : beta == 0;
  if (is_zero) return l1_loss(input, target, reduction);
  const DifferenceLoss loss{"SmoothL1LossBackward0", PairFormula::smooth_l1,
                            TripleFormula::smooth_l1_backward, beta};
  // At |d| = beta the derivative is the outer part's, so the second derivative is 0 there.
  return difference_loss(loss, input, target, reduction, [beta = beta](const Tensor& d) {
    return where(abs(d) >= beta, sign(d), d / beta);
  });
}

Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossOptions& options) {
  const auto [reduction, delta] = options;
  if (!(delta > 0)) fail("huber_loss", "delta is ", delta, ", which must be positive");
  check_pair("huber_loss", input, target);
  const DifferenceLoss loss{"HuberLossBackward0", PairFormula::huber, TripleFormula::huber_backward,
                            delta};
  return difference_loss(loss, input, target, reduction, [delta = delta](const Tensor& d) {
    return where(abs(d) >= delta, sign(d) * delta, d);
  });
}

Tensor kl_div(const Tensor& log_probabilities, const Tensor& target, const KlDivOptions& options) {
  check_pair("kl_div", log_probabilities, target);
  if (options.reduction == KlReduction::batchmean && log_probabilities.dim() == 0) {
    fail<ShapeError>("kl_div", "a 0-d input has no batch to take the mean over");
  }
  Tensor terms = options.log_target ? exp(target) * (target - log_probabilities)
                                    : xlogy(target, target) - target * log_probabilities;
  switch (options.reduction) {
    case KlReduction::none: return terms;
    case KlReduction::mean: return mean(terms);
    case KlReduction::sum: return sum(terms);
    case KlReduction::batchmean: break;
  }
  return sum(terms) / log_probabilities.size(0);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim, double eps) {
  check_pair("cosine_similarity", a, b);
  const DType dtype = result_type(a.array(), b.array());
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  const std::int64_t along =
      wrap_dim("cosine_similarity", dim, static_cast<std::int64_t>(shape.size()));
  const auto direction = [&](const Tensor& x) {
    const Tensor wide = expand(to(x, dtype), shape);
    const Tensor length = norm(wide, 2, along, /*keepdim=*/true);
    // `bounded` is at least eps, but its gradient is always the gradient of the norm.
    const Tensor bounded = length + clamp_min(eps - length.detach(), 0);
    return wide / bounded;
  };
  return sum(direction(a) * direction(b), along);
}

}  // namespace tend
