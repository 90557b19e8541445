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

/// The negative log-likelihood of the target classes under softmax(logits). Logits (C), (N, C) or
/// (N, C, d1, ...) take int64 targets (), (N) or (N, d1, ...), all of them ignore_index or in
/// [0, C). The mean is over the items that count, NaN when none does. ShapeError, DTypeError,
/// IndexError; Error for label_smoothing.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.cross_entropy.html
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});

struct NllLossOptions {
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
};

/// As cross_entropy, for the logarithms of probabilities.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const NllLossOptions& options = {});

/// (input - target)^2, its mean or its sum. Both promote to a floating dtype (DTypeError) and
/// broadcast (ShapeError): as in PyTorch, where a difference in shape earns a warning, since it is
/// seldom meant.
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

}  // namespace tend
