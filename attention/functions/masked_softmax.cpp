#include <tend/attention/functions/masked_softmax.h>

#include <limits>

#include <tend/attention/functions/mask.h>
#include <tend/autograd/graph/naming.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

}  // namespace

Tensor masked_softmax(const Tensor& scores, const Tensor& mask) try {
  detail::check_mask("masked_softmax", mask, scores.shape());
  if (!mask.defined()) return softmax(scores, -1);
  if (mask.dim() == 0) return masked_softmax(scores, mask.view({1}));
  const bool additive = mask.dtype() != boolean;
  const Tensor hidden = additive ? mask.detach() == kHidden : logical_not(mask);
  // Rows without any key are computed as if they had all, and cleared afterwards: no NaN comes up
  // on the way.
  const Tensor empty_rows = hidden.sum({-1}, true) == hidden.size(-1);
  const Tensor visible_scores =
      additive ? scores + masked_fill(mask, empty_rows, 0)
               : masked_fill(scores, logical_and(hidden, logical_not(empty_rows)), kHidden);
  return masked_fill(softmax(visible_scores, -1), empty_rows, 0);
} catch (const Error&) {
  rename_error("masked_softmax");
}

}  // namespace tend::attention
