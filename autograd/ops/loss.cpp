#include <tend/autograd/ops/loss.h>

#include <algorithm>

#include <tend/autograd/grad_mode.h>
#include <tend/autograd/ops/helpers.h>

namespace tend {
namespace {

Tensor reduce(const Tensor& losses, Reduction reduction, std::int64_t count) {
  switch (reduction) {
    case Reduction::none: return losses;
    case Reduction::sum: return sum(losses);
    case Reduction::mean: break;
  }
  return sum(losses) / count;
}

// x with its classes, dimension 1 of (N, C, d1, ...), last.
Tensor classes_last(const Tensor& x) {
  if (x.dim() < 3) return x;
  Shape order{0};
  for (std::int64_t d = 2; d < x.dim(); ++d) order.push_back(d);
  order.push_back(1);
  return permute(x, order);
}

Tensor classes_back(const Tensor& x) {
  if (x.dim() < 3) return x;
  Shape order{0, x.dim() - 1};
  for (std::int64_t d = 1; d < x.dim() - 1; ++d) order.push_back(d);
  return permute(x, order);
}

// Targets in a form to gather with: a last dimension of size 1, 0 where they are ignored.
struct Labels {
  Tensor index;
  Tensor ignored;
  std::int64_t count;  // of those that are not ignored
};

Labels read_labels(const char* operation, const Tensor& x, const Tensor& target,
                   std::int64_t ignore_index) {
  const std::int64_t class_dim = x.dim() > 1 ? 1 : 0;
  if (x.dim() == 0) fail<ShapeError>(operation, "a 0-d input has no classes");
  if (!is_floating(x.dtype())) {
    fail<DTypeError>(operation, "the input is ", x.dtype(), ", not float32 or float64");
  }
  if (target.dtype() != int64) {
    fail<DTypeError>(operation, "the target is ", target.dtype(), ", not int64");
  }
  Shape shape = x.shape();
  shape.erase(class_dim);
  if (target.shape() != shape) {
    fail<ShapeError>(operation, "input ", x.shape(), " needs a target of shape ", shape, ", got ",
                     target.shape());
  }
  shape.push_back(1);
  Labels labels{empty(shape, int64), empty(shape, boolean), 0};
  const Array from = target.array().contiguous();
  for (std::int64_t i = 0; i < target.numel(); ++i) {
    const std::int64_t label = from.data<std::int64_t>()[i];
    const bool ignored = label == ignore_index;
    if (!ignored && (label < 0 || label >= x.size(class_dim))) {
      fail<IndexError>(operation, "target ", label, " is out of range for dimension ", class_dim,
                       " of ", x.shape());
    }
    labels.index.data_ptr<std::int64_t>()[i] = ignored ? 0 : label;
    labels.ignored.data_ptr<bool>()[i] = ignored;
    labels.count += !ignored;
  }
  return labels;
}

// The cotangent of each item's loss, shaped like Labels::index.
Tensor item_grad(const Tensor& grad, const Tensor& ignored, Reduction reduction,
                 std::int64_t count) {
  const Tensor share = reduction == Reduction::none  ? unsqueeze(grad, -1)
                       : reduction == Reduction::sum ? grad
                                                     : grad / count;
  return masked_fill(expand(share, ignored.shape()), ignored, 0);
}

// -on * log_p[label] - off * sum(log_p) of each item that counts, reduced.
Tensor label_losses(const Tensor& log_p, const Labels& labels, double on, double off,
                    Reduction reduction) {
  Tensor losses = gather(log_p, -1, labels.index) * -on;
  if (off != 0) losses = losses - sum(log_p, {-1}, true) * off;
  losses = squeeze(masked_fill(losses, labels.ignored, 0), -1);
  return reduce(losses, reduction, labels.count);
}

const char* nll_node(const Tensor& x) {
  return x.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail("cross_entropy", "label_smoothing is ", smoothing, ", not in [0, 1]");
  }
  const Labels labels = read_labels("cross_entropy", logits, target, options.ignore_index);
  const double on = 1 - smoothing;
  const double off = smoothing / static_cast<double>(logits.size(logits.dim() > 1 ? 1 : 0));
  const auto forward = [&] {
    const NoGradGuard no_grad;
    const Tensor log_p = log_softmax(classes_last(logits), -1);
    return label_losses(log_p, labels, on, off, options.reduction).array();
  };
  return record(smoothing > 0 ? "AddBackward0" : nll_node(logits), forward(), {logits},
                {logits, labels.index, labels.ignored},
                [on, off, reduction = options.reduction, count = labels.count](Derivative& d) {
                  // softmax minus the smoothed target, which sums to 1
                  Tensor p = softmax(classes_last(d.saved(0)), -1);
                  if (off != 0) p = p - off;
                  const Tensor index = d.saved(1);
                  const Tensor slope =
                      scatter_add(p, -1, index, full(index.shape(), -on, p.dtype()));
                  const Tensor grad = item_grad(d.grad(), d.saved(2), reduction, count);
                  d.set(0, classes_back(slope * grad));
                });
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options) {
  const Labels labels = read_labels("nll_loss", log_probabilities, target, options.ignore_index);
  const auto forward = [&] {
    const NoGradGuard no_grad;
    return label_losses(classes_last(log_probabilities), labels, 1, 0, options.reduction).array();
  };
  return record(nll_node(log_probabilities), forward(), {log_probabilities},
                {labels.index, labels.ignored},
                [shape = classes_last(log_probabilities.detach()).shape(),
                 reduction = options.reduction, count = labels.count](Derivative& d) {
                  const Tensor grad = item_grad(d.grad(), d.saved(1), reduction, count);
                  const Tensor flat = zeros(shape, grad.dtype());
                  d.set(0, classes_back(scatter_add(flat, -1, d.saved(0), -grad)));
                });
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  if (!is_floating(result_type(input.array(), target.array()))) {
    fail<DTypeError>("mse_loss", "needs float32 or float64, got ", input.dtype(), " and ",
                     target.dtype());
  }
  const std::int64_t total =
      element_count(broadcast_shapes("mse_loss", input.shape(), target.shape()));
  const auto forward = [&] {
    const NoGradGuard no_grad;
    const Tensor difference = input - target;
    return reduce(difference * difference, reduction, total).array();
  };
  const double scale = reduction == Reduction::mean ? 2 / static_cast<double>(total) : 2;
  return record("MseLossBackward0", forward(), {input, target}, {input, target},
                [scale](Derivative& d) {
                  const Tensor grad = (d.saved(0) - d.saved(1)) * scale * d.grad();
                  if (d.needs(0)) d.set(0, grad);
                  if (d.needs(1)) d.set(1, -grad);
                });
}

}  // namespace tend
