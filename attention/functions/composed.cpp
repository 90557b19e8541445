#include <tend/attention/functions/composed.h>

#include <tend/attention/functions/scores.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {

AttentionOutput composed_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionOptions& options) {
  const Tensor scores = compute_scores(query, key, scale_of(query, options));
  AttentionOptions own = options;
  if (own.attn_mask.defined() && own.attn_mask.dtype() != boolean)
    own.attn_mask = own.attn_mask.to(query.dtype());
  const Tensor weights = dropout(visible_softmax(scores, own), own.dropout_p, /*training=*/true);
  return {matmul(weights, value), weights};
}

}  // namespace tend::attention
