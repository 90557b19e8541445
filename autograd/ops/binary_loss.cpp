#include <tend/autograd/ops/binary_loss.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend {
namespace {

constexpr const char* kPlain = "binary_cross_entropy";
constexpr const char* kLogits = "binary_cross_entropy_with_logits";

void check_weight(const char* operation, const char* name, const Tensor& weight,
                  const Tensor& input) {
  check_constant(operation, name, weight, input);
  if (weight.defined() && !broadcasts_to(weight.shape(), input.shape())) {
    fail<ShapeError>(operation, name, ' ', weight.shape(), " does not broadcast to the input ",
                     input.shape());
  }
}

void check(const char* operation, const Tensor& input, const Tensor& target, const Tensor& weight) {
  if (!is_floating(input.dtype()) || input.dtype() != target.dtype()) {
    fail<DTypeError>(operation, "input ", input.dtype(), " and target ", target.dtype(),
                     " must have one floating dtype");
  }
  if (input.shape() != target.shape()) {
    fail<ShapeError>(operation, "input ", input.shape(), " and target ", target.shape(),
                     " must have one shape");
  }
  check_weight(operation, "weight", weight, input);
}

void check_probabilities(const char* name, const Tensor& x) {
  if (x.numel() == 0) return;
  const double smallest = min(x.detach()).item(), largest = max(x.detach()).item();
  if (!(smallest >= 0 && largest <= 1)) {
    fail(kPlain, name, " has elements from ", smallest, " to ", largest, ", not in [0, 1]");
  }
}

Array reduced(const Tensor& losses, const Tensor& weight, Reduction reduction) {
  return reduce_losses(weight.defined() ? losses * weight : losses, reduction).array();
}

// The cotangent of each element's unweighted loss.
Tensor share(const Tensor& grad, const Tensor& weight, Reduction reduction, std::int64_t count) {
  const Tensor each = share_of_losses(grad, reduction, count);
  return weight.defined() ? each * weight : each;
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            OrWord<Reduction> reduction) {
  check(kPlain, input, target, weight);
  check_probabilities("the input", input);
  check_probabilities("the target", target);
  const auto forward = [&] {
    const NoGradGuard no_grad;
    const Tensor losses =
        (target - 1) * clamp(log1p(-input), -100) - target * clamp(log(input), -100);
    return reduced(losses, weight, reduction);
  };
  return record("BinaryCrossEntropyBackward0", forward(), {input, target}, {input, target, weight},
                [reduction, count = input.numel()](Derivative& d) {
                  const Tensor x = d.saved(0), t = d.saved(1);
                  const Tensor grad = share(d.grad(), d.saved(2), reduction, count);
                  if (d.needs(0)) d.set(0, (x - t) / clamp(x * (1 - x), 1e-12) * grad);
                  if (d.needs(1)) d.set(1, (log1p(-x) - log(x)) * grad);
                });
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyOptions& options) {
  return binary_cross_entropy(input, target, options.weight, options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        OrWord<Reduction> reduction) {
  check(kLogits, input, target, weight);
  check_weight(kLogits, "pos_weight", pos_weight, input);
  const auto forward = [&] {
    const NoGradGuard no_grad;
    if (!pos_weight.defined()) {
      const auto losses = kernels::PairFormula::cross_entropy_with_logits;
      return reduced(computed(losses, {}, input.dtype(), input, target), weight, reduction);
    }
    const Tensor log_p = logsigmoid(input) * ((pos_weight - 1) * target + 1);
    return reduced((1 - target) * input - log_p, weight, reduction);
  };
  return record(
      "BinaryCrossEntropyWithLogitsBackward0", forward(), {input, target},
      {input, target, weight, pos_weight}, [reduction, count = input.numel()](Derivative& d) {
        const Tensor x = d.saved(0), t = d.saved(1), positive = d.saved(3);
        const Tensor grad = share(d.grad(), d.saved(2), reduction, count);
        if (d.needs(0) && !positive.defined() && !grad_enabled()) {
          const auto slopes = kernels::TripleFormula::cross_entropy_with_logits_backward;
          d.set(0, computed(slopes, {}, x.dtype(), grad, x, t));
        } else if (d.needs(0)) {
          const Tensor probability = sigmoid(x), hits = positive.defined() ? positive * t : t;
          d.set(0,
                ((positive.defined() ? probability * (hits + 1 - t) : probability) - hits) * grad);
        }
        if (d.needs(1)) {
          const Tensor slope = positive.defined() ? -x - (positive - 1) * logsigmoid(x) : -x;
          d.set(1, slope * grad);
        }
      });
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsOptions& options) {
  return binary_cross_entropy_with_logits(input, target, options.weight, options.pos_weight,
                                          options.reduction);
}

}  // namespace tend
