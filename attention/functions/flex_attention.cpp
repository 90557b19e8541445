#include <tend/attention/functions/flex_attention.h>

#include <tend/attention/functions/call.h>
#include <tend/attention/functions/composed.h>

namespace tend::attention {
namespace {

// Expressions represent batch, head, query and key as int32.
void check_places(const char* operation, const Shape& weights) {
  const std::int64_t heads = element_count(leading_shape(weights));
  for (const std::int64_t size :
       {heads, weights[weights.rank() - 2], weights[weights.rank() - 1]}) {
    if (!kernels::fits_index(size)) {
      fail(operation, "weights of shape ", weights, " have more positions than int32 can count");
    }
  }
}

AttentionCall checked_call(const char* operation, const Tensor& query, const Tensor& key,
                           const Tensor& value, const FlexOptions& options) {
  AttentionCall call = attention_call(operation, query, key, value, options.dropout_p,
                                      options.scale, options.enable_gqa);
  check_places(operation, call.weights);
  call.grad_fn = "FlexAttentionAutogradOpBackward";
  call.score_function = options.score.traced();
  call.mask_function = options.mask.traced();
  for (const auto& function : {call.score_function, call.mask_function}) {
    if (!function) continue;
    function->check(query.dtype());
    function->check_sizes(operation, call.weights);
  }
  return call;
}

}  // namespace

Tensor flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                      const FlexOptions& options) {
  const AttentionCall call = checked_call("flex_attention", query, key, value, options);
  return attend(call, options.path, query, key, value);
}

AttentionOutput flex_attention_with_weights(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const FlexOptions& options) {
  constexpr const char* kName = "flex_attention_with_weights";
  const AttentionCall call = checked_call(kName, query, key, value, options);
  if (options.path == AttentionPath::fused)
    fail(kName, "the fused path does not compute the weights");
  return composed_attention(call, query, key, value);
}

HeadDetails flex_attention_with_heads(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const std::vector<std::int64_t>& heads,
                                      const FlexOptions& options) {
  constexpr const char* kName = "flex_attention_with_heads";
  const AttentionCall call = checked_call(kName, query, key, value, options);
  if (call.weights.rank() < 3) {
    fail<ShapeError>(kName, "weights of shape ", call.weights, " have no heads");
  }
  for (const std::int64_t head : heads) {
    if (head >= 0 && head < heads_of(call.weights)) continue;
    fail<IndexError>(kName, "there is no head ", head, " in weights of shape ", call.weights);
  }
  const Tensor kept = call.dropout_p < 1 ? draw_kept_weights(call) : Tensor();
  const Tensor context = attend(call, options.path, query, key, value, kept);
  const HeadParts parts =
      compute_heads(call, query, key, heads, kept.defined() ? kept.array() : Array());
  return {context, parts.weights, parts.scores, parts.log_sum_exp};
}

}  // namespace tend::attention
