#include <tend/autograd/ops/loss.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/rows/cross_entropy.h>

namespace tend {
namespace {

std::int64_t class_dim(const Tensor& x) {
  return x.dim() > 1 ? 1 : 0;
}

// x with its classes in the last dimension. In (N, C, d1, ...) they are dimension 1.
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

// Class targets as gather needs them, with a last dimension of size 1. Ignored targets have class
// 0.
struct Labels {
  Tensor index;
  Tensor ignored;
  Tensor weight;     // the weight of each target's class; undefined if all weights are 1
  double total = 0;  // the sum of the weights of targets that are not ignored
};

void check_logits(const char* operation, const Tensor& x, const Tensor& class_weight) {
  if (x.dim() == 0) fail<ShapeError>(operation, "a 0-d input has no classes");
  if (!is_floating(x.dtype())) {
    fail<DTypeError>(operation, "the input is ", x.dtype(), ", not float32 or float64");
  }
  check_constant(operation, "weight", class_weight, x);
  const Shape classes{x.size(class_dim(x))};
  if (class_weight.defined() && class_weight.shape() != classes) {
    fail<ShapeError>(operation, "the weight must have one element for each of the ", classes[0],
                     " classes (dimension ", class_dim(x), " of ", x.shape(), "), but has shape ",
                     class_weight.shape());
  }
}

Labels read_labels(const char* operation, const Tensor& x, const Tensor& target,
                   const Tensor& class_weight, std::int64_t ignore_index) {
  if (target.dtype() != int64) {
    fail<DTypeError>(operation, "the target is ", target.dtype(), ", not int64");
  }
  Shape shape = x.shape();
  shape.erase(class_dim(x));
  if (target.shape() != shape) {
    fail<ShapeError>(operation, "input ", x.shape(), " needs a target of shape ", shape, ", got ",
                     target.shape());
  }
  shape.push_back(1);
  Labels labels{empty(shape, int64), empty(shape, boolean), {}, 0};
  const Array targets = target.array().contiguous();
  const std::int64_t* from = targets.data<std::int64_t>();
  auto* index = labels.index.data_ptr<std::int64_t>();
  auto* is_ignored = labels.ignored.data_ptr<bool>();
  const std::int64_t count = target.numel(), classes = x.size(class_dim(x));
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = from[i];
    const bool ignored = label == ignore_index;
    if (!ignored && (label < 0 || label >= classes)) {
      fail<IndexError>(operation, "target ", label, " is out of range for dimension ", class_dim(x),
                       " of ", x.shape());
    }
    index[i] = ignored ? 0 : label;
    is_ignored[i] = ignored;
    kept += ignored ? 0 : 1;
  }
  if (classes == 0 && count > 0)  // all are ignored, but their index 0 does not exist
    fail<ShapeError>(operation, "input ", x.shape(), " has no classes in dimension ", class_dim(x));
  labels.total = static_cast<double>(kept);
  if (class_weight.defined()) {
    const NoGradGuard no_grad;
    const Tensor each = index_select(class_weight, 0, flatten(labels.index)).view(shape);
    labels.weight = masked_fill(each, labels.ignored, 0);
    labels.total = sum(labels.weight).item();
  }
  return labels;
}

// The cotangent of each item's loss, shaped like Labels::index.
Tensor item_grad(const Tensor& grad, const Tensor& ignored, Reduction reduction, double total) {
  const Tensor share = share_of_losses(grad, reduction, total);
  const Tensor each = reduction == Reduction::none ? unsqueeze(share, -1) : share;
  return masked_fill(expand(each, ignored.shape()), ignored, 0);
}

// The reduced losses. The loss of an item is -on * w[label] log_p[label] - off * sum(w log_p), and
// 0 if the item is ignored. With label smoothing s, `on` is 1 - s and `off` is s / C.
Tensor label_losses(const Tensor& log_p, const Labels& labels, const Tensor& class_weight,
                    double on, double off, Reduction reduction) {
  Tensor losses = gather(log_p, -1, labels.index) * -on;
  if (labels.weight.defined()) losses = losses * labels.weight;
  if (off != 0) {
    const Tensor weighted = class_weight.defined() ? log_p * class_weight : log_p;
    losses = losses - sum(weighted, {-1}, true) * off;
  }
  losses = squeeze(masked_fill(losses, labels.ignored, 0), -1);
  return reduce_losses(losses, reduction, labels.total);
}

// The gradient of label_losses with respect to x, where log_p = log_softmax(x) and each item's loss
// has cotangent 1. It is p sum(w q) - w q for the smoothed target q and class weights w, and p - q
// without weights.
Tensor label_slope(const Tensor& p, const Tensor& index, const Tensor& item_weight,
                   const Tensor& class_weight, double on, double off) {
  if (!item_weight.defined()) {
    return scatter_add(off != 0 ? p - off : p, -1, index, full(index.shape(), -on, p.dtype()));
  }
  Tensor slope = p * (item_weight * on + sum(class_weight) * off);
  if (off != 0) slope = slope - class_weight * off;
  return scatter_add(slope, -1, index, item_weight * -on);
}

const char* nll_node(const Tensor& x) {
  return x.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
}

// The logits as a row-major matrix with one row for each item.
Array item_rows(const Tensor& logits) {
  const Shape matrix{logits.numel() / logits.size(class_dim(logits)),
                     logits.size(class_dim(logits))};
  return classes_last(logits).array().reshape(matrix).contiguous();
}

// The kernels do not support weights. For fewer than 16 classes they are not used, because softmax
// is more precise then.
bool has_kernel(const Tensor& logits, const Tensor& class_weight) {
  return !class_weight.defined() && logits.size(class_dim(logits)) >= 16;
}

// The numbers that the kernel saves for each item: its largest logit, and sum(exp(logits -
// largest)).
struct ItemSums {
  Tensor largest, sums;
};

// Computes label_losses of log_softmax(logits) with one kernel, without the reduction.
Tensor fused_losses(const Tensor& logits, const Labels& labels, double on, double off,
                    ItemSums& kept) {
  const Array rows = item_rows(logits);
  const Shape items{rows.shape()[0]};
  kept = {empty(items, logits.dtype()), empty(items, logits.dtype())};
  Tensor losses = empty(items, logits.dtype());
  kernels::cross_entropy(losses.array(), kept.largest.array(), kept.sums.array(), rows,
                         labels.index.array(), labels.ignored.array(), on, off);
  Shape shape = labels.index.shape();
  shape.erase(shape.rank() - 1);
  return losses.view(shape);
}

// The gradient of the logits, with the classes last. `grad` has the gradients of the items' losses.
Tensor fused_gradient(const Tensor& logits, const Tensor& grad, const Tensor& index,
                      const ItemSums& kept, double on, double off) {
  const Array rows = item_rows(logits);
  Array out = Array::empty(rows.shape(), rows.dtype());
  kernels::cross_entropy_backward(out, grad.array().contiguous(), rows, index.array(),
                                  kept.largest.array(), kept.sums.array(), on, off);
  return Tensor(out.view(classes_last(logits).shape()));
}

// The loss of targets that are distributions over the classes.
Tensor distribution_losses(const Tensor& logits, const Tensor& target, const Tensor& class_weight,
                           const CrossEntropyOptions& options) {
  if (target.dtype() != logits.dtype()) {
    fail<DTypeError>("cross_entropy", "the target must be int64, or ", logits.dtype(),
                     " like the input, but is ", target.dtype());
  }
  if (target.shape() != logits.shape()) {
    fail<ShapeError>("cross_entropy", "a target of ", target.dtype(),
                     " has probabilities and must have the input's shape ", logits.shape(),
                     ", but has shape ", target.shape(), "; a target of classes must be int64");
  }
  if (options.ignore_index >= 0) {
    fail("cross_entropy", "ignore_index is ", options.ignore_index,
         ", but targets that are probabilities cannot be ignored");
  }
  const std::int64_t classes = logits.size(class_dim(logits));
  const double smoothing = options.label_smoothing;
  Tensor q = classes_last(target);
  if (smoothing > 0) q = q * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor terms = log_softmax(classes_last(logits), -1) * q;
  if (class_weight.defined()) terms = terms * class_weight;
  const std::int64_t items = logits.numel() == 0 ? 0 : logits.numel() / classes;
  return reduce_losses(-sum(terms, {-1}), options.reduction, static_cast<double>(items));
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const Tensor& weight = options.weight;
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail("cross_entropy", "label_smoothing is ", smoothing, ", not in [0, 1]");
  }
  check_logits("cross_entropy", logits, weight);
  if (is_floating(target.dtype())) return distribution_losses(logits, target, weight, options);
  const Labels labels = read_labels("cross_entropy", logits, target, weight, options.ignore_index);
  const double on = 1 - smoothing;
  const double off = smoothing / static_cast<double>(logits.size(class_dim(logits)));
  ItemSums kept;
  const auto forward = [&] {
    const NoGradGuard no_grad;
    if (has_kernel(logits, weight)) {
      return reduce_losses(fused_losses(logits.detach(), labels, on, off, kept), options.reduction,
                           labels.total)
          .array();
    }
    const Tensor log_p = log_softmax(classes_last(logits), -1);
    return label_losses(log_p, labels, weight, on, off, options.reduction).array();
  };
  return record(
      smoothing > 0 ? "AddBackward0" : nll_node(logits), forward(), {logits},
      {logits, labels.index, labels.ignored, labels.weight, weight, kept.largest, kept.sums},
      [on, off, reduction = options.reduction, total = labels.total](Derivative& d) {
        const Tensor x = d.saved(0), index = d.saved(1);
        const Tensor grad = item_grad(d.grad(), d.saved(2), reduction, total);
        if (!grad_enabled() && has_kernel(x, d.saved(4))) {
          const ItemSums sums{d.saved(5), d.saved(6)};
          return d.set(0, classes_back(fused_gradient(x, grad, index, sums, on, off)));
        }
        const Tensor p = softmax(classes_last(x), -1);
        d.set(0, classes_back(label_slope(p, index, d.saved(3), d.saved(4), on, off) * grad));
      });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight,
                     const CrossEntropyOptions& options) {
  return cross_entropy(logits, target, detail::with_weight("cross_entropy", options, weight));
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options) {
  const Tensor& weight = options.weight;
  check_logits("nll_loss", log_probabilities, weight);
  const Labels labels =
      read_labels("nll_loss", log_probabilities, target, weight, options.ignore_index);
  const auto forward = [&] {
    const NoGradGuard no_grad;
    return label_losses(classes_last(log_probabilities), labels, weight, 1, 0, options.reduction)
        .array();
  };
  return record(nll_node(log_probabilities), forward(), {log_probabilities},
                {labels.index, labels.ignored, labels.weight},
                [shape = classes_last(log_probabilities.detach()).shape(),
                 reduction = options.reduction, total = labels.total](Derivative& d) {
                  Tensor grad = item_grad(d.grad(), d.saved(1), reduction, total);
                  const Tensor item_weight = d.saved(2);
                  if (item_weight.defined()) grad = grad * item_weight;
                  d.set(0, classes_back(scatter_to_zeros(shape, -1, d.saved(0), -grad)));
                });
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                const NllLossOptions& options) {
  return nll_loss(log_probabilities, target, detail::with_weight("nll_loss", options, weight));
}

}  // namespace tend
