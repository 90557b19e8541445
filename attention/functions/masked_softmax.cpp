#include <tend/attention/functions/masked_softmax.h>

#include <cmath>

#include <tend/attention/functions/mask.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {
namespace {

// The scores, with -inf where the mask hides them. A hidden NaN becomes -inf, too.
Tensor hide(const Tensor& scores, const Tensor& mask) {
  if (!mask.defined()) return scores;
  if (mask.dtype() == boolean) return masked_fill(scores, logical_not(mask), detail::kHidden);
  return masked_fill(scores + mask, mask.detach() == detail::kHidden, detail::kHidden);
}

}  // namespace

Tensor masked_softmax(const Tensor& scores, const Tensor& mask) {
  detail::check_mask("masked_softmax", mask, scores.shape());
  if (scores.dim() == 0) return masked_softmax(scores.view({1}), mask).view({});
  const Tensor left = hide(scores, mask);
  const Tensor weights = softmax(left, -1);
  if (!std::isnan(sum(weights.detach()).item<double>())) return weights;
  // Softmax gives NaN for rows that contain only -inf. These rows are computed as if all their
  // scores were 0, and their weights are set to 0 afterwards. So gradients of any order have no
  // NaN.
  const Tensor empty = amax(left.detach(), {-1}, true) == detail::kHidden;
  return masked_fill(softmax(masked_fill(left, empty, 0), -1), empty, 0);
}

}  // namespace tend::attention
