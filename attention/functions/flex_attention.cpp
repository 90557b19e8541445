#include <tend/attention/functions/flex_attention.h>

#include <tend/attention/functions/attend.h>
#include <tend/attention/functions/composed.h>
#include <tend/autograd/graph/naming.h>

namespace tend::attention {
namespace {

constexpr const char* kFlex = "flex_attention";

// Places are int32 in expressions.
void check_places(const Shape& weights) {
  const std::int64_t heads = element_count(leading_shape(weights));
  for (const std::int64_t size :
       {heads, weights[weights.rank() - 2], weights[weights.rank() - 1]}) {
    if (!kernels::fits_index(size)) {
      fail(kFlex, "weights of shape ", weights, " have more places than int32 counts");
    }
  }
}

AttentionCall checked_call(const Tensor& query, const Tensor& key, const Tensor& value,
                           const FlexOptions& options) {
  AttentionCall call = attention_call(kFlex, query, key, value, options.dropout_p, options.scale,
                                      options.enable_gqa);
  check_places(call.weights);
  call.grad_fn = "FlexAttentionAutogradOpBackward";
  call.score_function = options.score.traced();
  call.mask_function = options.mask.traced();
  for (const auto& function : {call.score_function, call.mask_function}) {
    if (!function) continue;
    function->check(query.dtype());
    function->check_sizes(kFlex, call.weights);
  }
  return call;
}

}  // namespace

Tensor flex_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                      const FlexOptions& options) try {
  return attend(checked_call(query, key, value, options), options.path, query, key, value);
} catch (const Error&) {
  rename_error(kFlex);
}

AttentionOutput flex_attention_with_weights(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const FlexOptions& options) try {
  const AttentionCall call = checked_call(query, key, value, options);
  if (options.path == AttentionPath::fused) fail(kFlex, "the fused path does not make the weights");
  return composed_attention(call, query, key, value);
} catch (const Error&) {
  rename_error("flex_attention_with_weights");
}

HeadDetails flex_attention_with_heads(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const std::vector<std::int64_t>& heads,
                                      const FlexOptions& options) try {
  const AttentionCall call = checked_call(query, key, value, options);
  if (call.weights.rank() < 3) {
    fail<ShapeError>(kFlex, "weights of shape ", call.weights, " have no heads");
  }
  for (const std::int64_t head : heads) {
    if (head >= 0 && head < heads_of(call.weights)) continue;
    fail<IndexError>(kFlex, "head ", head, " of weights of shape ", call.weights);
  }
  const Tensor kept = call.dropout_p < 1 ? draw_kept_weights(call) : Tensor();
  const Tensor context = attend(call, options.path, query, key, value, kept);
  const HeadParts parts =
      compute_heads(call, query, key, heads, kept.defined() ? kept.array() : Array());
  return {context, parts.weights, parts.scores, parts.log_sum_exp};
} catch (const Error&) {
  rename_error("flex_attention_with_heads");
}

}  // namespace tend::attention
