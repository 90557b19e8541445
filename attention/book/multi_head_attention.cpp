#include <tend/attention/book/multi_head_attention.h>

#include <tend/attention/book/inputs.h>
#include <tend/attention/functions/mask.h>

namespace tend::attention {
namespace {

std::int64_t checked_heads(std::int64_t d_out, std::int64_t num_heads) {
  if (num_heads < 1 || d_out < 1 || d_out % num_heads != 0) {
    fail<ShapeError>("MultiHeadAttention", "d_out ", d_out, " must be divisible by num_heads ",
                     num_heads);
  }
  return num_heads;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(std::int64_t d_in, std::int64_t d_out,
                                       std::int64_t context_length, double dropout_p,
                                       std::int64_t heads, Flag qkv_bias)
    : num_heads(checked_heads(d_out, heads)),
      W_query(checked_d_in("MultiHeadAttention", d_in, d_out, context_length, dropout_p), d_out,
              qkv_bias),
      W_key(d_in, d_out, qkv_bias),
      W_value(d_in, d_out, qkv_bias),
      out_proj(d_out, d_out),
      dropout(dropout_p),
      mask(future_mask(context_length)) {}

MultiHeadAttention::Heads MultiHeadAttention::split(const Tensor& x) const {
  check_tokens("MultiHeadAttention", x, W_query.weight.size(1), mask.size(0));
  return {pass_heads(kHookQuery, split_heads(W_query(x), num_heads)),
          pass_heads(kHookKey, split_heads(W_key(x), num_heads)),
          pass_heads(kHookValue, split_heads(W_value(x), num_heads))};
}

Tensor MultiHeadAttention::forward(const Tensor& x) const {
  const Heads heads = split(x);
  return out_proj(
      merge_heads(scaled_dot_product_attention(heads.query, heads.key, heads.value, options())));
}

AttentionOutput MultiHeadAttention::with_weights(const Tensor& x) const {
  const Heads heads = split(x);
  AttentionOutput out = attention_with_weights(heads.query, heads.key, heads.value, options());
  return {out_proj(merge_heads(out.context)), std::move(out.weights)};
}

void MultiHeadAttention::check_loaded(const std::string& field, const Tensor& value) const {
  if (field == "mask") check_future_mask("MultiHeadAttention", value);
}

}  // namespace tend::attention
