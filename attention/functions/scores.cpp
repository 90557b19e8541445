#include <tend/attention/functions/scores.h>

#include <tend/attention/functions/mask.h>
#include <tend/attention/functions/masked_softmax.h>
#include <tend/autograd/ops/ops.h>
#include <cmath>

namespace tend::attention {

double scale_of(const Tensor& query, const AttentionOptions& options) {
  return options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

Shape batch_shape(const Tensor& matrices) {
  return Shape(std::span(matrices.shape()).first(matrices.shape().size() - 2));
}

Tensor compute_scores(const Tensor& query, const Tensor& key, double scale) {
  return matmul(query, key.transpose(-2, -1)) * scale;
}

// Under the causal rule alone every query sees the first key, so no row needs clearing.
Tensor visible_softmax(const Tensor& scores, const AttentionOptions& options) {
  if (!options.is_causal) return masked_softmax(scores, options.attn_mask);
  const std::int64_t queries = scores.size(-2), keys = scores.size(-1);
  if (options.attn_mask.defined() && options.attn_mask.dtype() == boolean) {
    return masked_softmax(scores, logical_and(options.attn_mask, causal_mask(queries, keys)));
  }
  const Tensor hidden = triu(ones({queries, keys}, boolean), 1);
  if (!options.attn_mask.defined())
    return softmax(masked_fill(scores, hidden, detail::kHidden), -1);
  return masked_softmax(scores, masked_fill(options.attn_mask, hidden, detail::kHidden));
}

}  // namespace tend::attention
