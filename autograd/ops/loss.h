// Losses.
#pragma once

#include <cstdint>

namespace tend {

class Tensor;

/// What becomes of the losses of the items: all of them, their mean or their sum.
enum class Reduction { none, mean, sum };

struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // items with this target do not count
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;  // the share of a target that is spread over all classes, in [0, 1]
};

/// The cross entropy of the targets under p = softmax(logits). Logits are (C), (N, C) or
/// (N, C, d1, ...), with the classes in dimension 1.
///
/// int64 targets (), (N) or (N, d1, ...) name classes, all of them ignore_index or in [0, C):
/// -log p[target]. The mean is over the items that count, NaN when none does. Targets of the
/// logits' shape and dtype are probabilities: -sum_c target[c] log p[c]; they have a gradient too,
/// and no ignore_index (Error). Label smoothing replaces each target distribution q by
/// (1 - s) q + s / C.
///
/// `weight` (C) multiplies the loss of each class; the mean over class targets is then over the
/// sum of their weights. It is a constant (AutogradError when it requires grad), of the logits'
/// dtype, and may be undefined. ShapeError, DTypeError, IndexError; Error for label_smoothing.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cross_entropy.html
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight,
                     const CrossEntropyOptions& options = {});

struct NllLossOptions {
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};

/// As cross_entropy of class targets, for the logarithms of probabilities: -log p[target].
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.nll_loss.html
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options = {});
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                const NllLossOptions& options = {});

// Losses of each element. Input and target broadcast (ShapeError), as in PyTorch, where a
// difference in shape earns a warning, since it is seldom meant; they promote to a floating dtype
// (DTypeError). The mean of nothing is NaN. With d = input - target:

/// d^2
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/// |d|, with gradient 0 at 0.
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/// d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere; l1_loss for beta = 0, Error below it.
/// Girshick, Fast R-CNN, 2015, arXiv:1504.08083.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.smooth_l1_loss.html
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      Reduction reduction = Reduction::mean, double beta = 1);

/// d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere; Error unless delta > 0.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.huber_loss.html
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1);

/// Of kl_div: batchmean divides the sum by the size of the input's first dimension, as the
/// mathematical definition wants it.
enum class KlReduction { none, mean, sum, batchmean };

struct KlDivOptions {
  KlReduction reduction = KlReduction::mean;
  bool log_target = false;  // the target holds logarithms of probabilities too
};

/// The terms of the Kullback-Leibler divergence of the target from `log_probabilities`:
/// t (log t - input), 0 where t = 0; with log_target, exp(t) (t - input). Differentiable in both.
/// ShapeError for a batchmean of a 0-d input.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.kl_div.html
Tensor kl_div(const Tensor& log_probabilities, const Tensor& target,
              const KlDivOptions& options = {});

// Losses of two classes. Input and target have one shape (ShapeError) and one floating dtype
// (DTypeError), and both have gradients. `weight` multiplies each element's loss; it broadcasts to
// the input, has its dtype, is a constant (AutogradError when it requires grad) and may be
// undefined.

/// -weight (t log x + (1 - t) log(1 - x)) of probabilities x and targets t, all of them in [0, 1]
/// (Error). Logarithms are no less than -100, so the loss is finite; the gradient of x divides by
/// max(x (1 - x), 1e-12), that of t is not bounded.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.binary_cross_entropy.html
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            Reduction reduction = Reduction::mean);
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Reduction reduction = Reduction::mean);

/// -weight (pos_weight t log p + (1 - t) log(1 - p)) for p = sigmoid(input), computed from
/// log p itself, so that it is precise for large inputs. pos_weight is as weight is. Targets may
/// be any numbers.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.binary_cross_entropy_with_logits.html
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        Reduction reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction = Reduction::mean);

/// sum(a b) / (max(|a|, eps) max(|b|, eps)) along `dim` of the broadcast inputs, |a| the Euclidean
/// norm; they promote to a floating dtype (DTypeError). Where eps is the larger, the gradient is
/// as if the norm varied still.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cosine_similarity.html
Tensor cosine_similarity(const Tensor& a, const Tensor& b, std::int64_t dim = 1, double eps = 1e-8);

}  // namespace tend
