#include <tend/attention/functions/scaled_dot_product.h>

#include <algorithm>

#include <tend/attention/functions/call.h>
#include <tend/attention/functions/composed.h>
#include <tend/attention/functions/mask.h>

namespace tend::attention {
namespace {

// PyTorch's name of the node. PyTorch has a fused path only for (batch, heads, ...). Otherwise its
// last node is the matrix product.
const char* grad_fn_of(const Shape& weights) {
  switch (weights.rank()) {
    case 2: return "MmBackward0";
    case 3: return "UnsafeViewBackward0";
    default: return "ScaledDotProductFlashAttentionForCpuBackward0";
  }
}

AttentionCall checked_call(const char* operation, const Tensor& query, const Tensor& key,
                           const Tensor& value, const AttentionOptions& options) {
  AttentionCall call = attention_call(operation, query, key, value, options.dropout_p,
                                      options.scale, options.enable_gqa);
  detail::check_mask(operation, options.attn_mask, call.weights);
  if (options.query_offset < 0) {
    fail(operation, "query_offset ", options.query_offset, " is negative");
  }
  call.grad_fn = grad_fn_of(call.weights);
  call.is_causal = options.is_causal;
  // With this offset or a larger one, all queries see all keys.
  if (options.is_causal) call.query_offset = std::min(options.query_offset, key.size(-2));
  call.mask = options.attn_mask;
  return call;
}

}  // namespace

AttentionOutput attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options) {
  constexpr const char* kName = "attention_with_weights";
  const AttentionCall call = checked_call(kName, query, key, value, options);
  if (options.path == AttentionPath::fused)
    fail(kName, "the fused path does not compute the weights");
  return composed_attention(call, query, key, value);
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  const AttentionCall call =
      checked_call("scaled_dot_product_attention", query, key, value, options);
  return attend(call, options.path, query, key, value);
}

}  // namespace tend::attention
