#include <tend/attention/functions/masked_softmax.h>

#include <tend/attention/functions/mask.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {

Tensor masked_softmax(const Tensor& scores, const Tensor& mask) {
  detail::check_mask("masked_softmax", mask, scores.shape());
  if (!mask.defined()) return softmax(scores, -1);
  if (scores.dim() == 0) return masked_softmax(scores.view({1}), mask).view({});
  if (mask.dim() == 0) return masked_softmax(scores, mask.view({1}));
  const bool additive = mask.dtype() != boolean;
  const Tensor hidden = additive ? mask.detach() == detail::kHidden : logical_not(mask);
  const Tensor empty_rows = all(hidden, {-1}, true);
  const Tensor masked = additive ? scores + mask : masked_fill(scores, hidden, detail::kHidden);
  if (!any(empty_rows).item<bool>()) return softmax(masked, -1);
  // Rows without a visible key are computed as if all scores were 0, and cleared afterwards, so
  // that no NaN arises, whatever their scores are.
  return masked_fill(softmax(masked_fill(masked, empty_rows, 0), -1), empty_rows, 0);
}

}  // namespace tend::attention
