#include <tend/attention/book/causal_attention.h>

#include <tend/attention/book/inputs.h>
#include <tend/attention/functions/mask.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {

CausalAttention::CausalAttention(std::int64_t d_in, std::int64_t d_out, std::int64_t context_length,
                                 double dropout_p, Flag qkv_bias)
    : W_query(checked_d_in("CausalAttention", d_in, d_out, context_length, dropout_p), d_out,
              qkv_bias),
      W_key(d_in, d_out, qkv_bias),
      W_value(d_in, d_out, qkv_bias),
      dropout(dropout_p),
      mask(future_mask(context_length)) {}

Tensor CausalAttention::forward(const Tensor& x) const {
  check_tokens("CausalAttention", x, W_query.weight.size(1), mask.size(0));
  return scaled_dot_product_attention(kHookQuery(W_query(x)), kHookKey(W_key(x)),
                                      kHookValue(W_value(x)), options());
}

AttentionOutput CausalAttention::with_weights(const Tensor& x) const {
  check_tokens("CausalAttention", x, W_query.weight.size(1), mask.size(0));
  return attention_with_weights(W_query(x), W_key(x), W_value(x), options());
}

void CausalAttention::check_loaded(const std::string& field, const Tensor& value) const {
  if (field == "mask") check_future_mask("CausalAttention", value);
}

MultiHeadAttentionWrapper::MultiHeadAttentionWrapper(std::int64_t d_in, std::int64_t d_out,
                                                     std::int64_t context_length, double dropout,
                                                     std::int64_t num_heads, Flag qkv_bias) {
  if (num_heads < 1)
    fail<ShapeError>("MultiHeadAttentionWrapper", "num_heads must be positive, got ", num_heads);
  heads.reserve(num_heads);
  for (std::int64_t i = 0; i < num_heads; ++i)
    heads.emplace_back(d_in, d_out, context_length, dropout, qkv_bias);
}

Tensor MultiHeadAttentionWrapper::forward(const Tensor& x) const {
  std::vector<Tensor> contexts;
  for (const CausalAttention& head : heads) contexts.push_back(head(x));
  return cat(contexts, -1);
}

AttentionOutput MultiHeadAttentionWrapper::with_weights(const Tensor& x) const {
  std::vector<Tensor> contexts;
  std::vector<Tensor> weights;
  for (const CausalAttention& head : heads) {
    AttentionOutput out = head.with_weights(x);
    contexts.push_back(std::move(out.context));
    weights.push_back(std::move(out.weights));
  }
  return {cat(contexts, -1), stack(weights, -3)};
}

}  // namespace tend::attention
