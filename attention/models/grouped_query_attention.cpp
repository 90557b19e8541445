#include <tend/attention/models/grouped_query_attention.h>

#include <tend/attention/book/inputs.h>
#include <tend/attention/functions/flex_attention.h>
#include <tend/attention/functions/scaled_dot_product.h>
#include <tend/attention/models/token_places.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {
namespace {

constexpr const char* kModule = "GroupedQueryAttention";

// Hooks after the rotation, and for what each head adds to the output: (..., T, heads, width).
constexpr nn::HookPoint kRotatedQuery("hook_rot_q"), kRotatedKey("hook_rot_k"),
    kResult("hook_result");

// The output, given the contexts of the heads. If a hook reads each head's share of the output, the
// output is computed as the sum of these shares.
Tensor project(const nn::Linear& out_proj, const Tensor& context) {
  if (!kResult.is_heard()) return out_proj(merge_heads(context));
  const Tensor weight = out_proj.weight.unflatten(-1, {context.size(-3), -1});  // (width, heads, D)
  const Tensor result = kResult(einsum("...htd,whd->...thw", {context, weight}));
  const Tensor sum = result.sum({-2});
  return out_proj.bias.defined() ? sum + out_proj.bias : sum;
}

AttentionOptions causal_options(const GPTConfig& config, double dropout_p,
                                const TokenPlaces& places) {
  return {.dropout_p = dropout_p,
          .is_causal = true,
          .enable_gqa = config.kv_heads() != config.num_heads,
          .query_offset = places.query_offset};
}

FlexOptions flex_options(const GPTConfig& config, double dropout_p, const TokenPlaces& places) {
  return {.score = places.score,
          .mask = places.mask,
          .dropout_p = dropout_p,
          .enable_gqa = config.kv_heads() != config.num_heads};
}

}  // namespace

GroupedQueryAttention::GroupedQueryAttention(const GPTConfig& c)
    : config(checked_block(kModule, c)),
      W_query(c.width, c.num_heads * c.head_size(), c.qkv_bias),
      W_key(c.width, c.kv_heads() * c.head_size(), c.qkv_bias),
      W_value(c.width, c.kv_heads() * c.head_size(), c.qkv_bias),
      out_proj(c.num_heads * c.head_size(), c.width, c.out_bias),
      dropout(c.attention_dropout.value_or(c.dropout)) {
  if (!c.qk_norm) return;
  query_norm = nn::Parameter(ones({c.head_size()}));
  key_norm = nn::Parameter(ones({c.head_size()}));
}

GroupedQueryAttention::Heads GroupedQueryAttention::split(const Tensor& x,
                                                          const TokenPlaces& places) const {
  check_tokens(kModule, x, config.width, config.context_length);
  Heads heads{pass_heads(kHookQuery, split_heads(W_query(x), config.num_heads)),
              pass_heads(kHookKey, split_heads(W_key(x), config.kv_heads())),
              pass_heads(kHookValue, split_heads(W_value(x), config.kv_heads()))};
  if (query_norm.defined()) {
    heads.query = rms_norm(heads.query, query_norm.shape(), query_norm, config.norm_eps);
    heads.key = rms_norm(heads.key, key_norm.shape(), key_norm, config.norm_eps);
  }
  if (places.angles.cosines.defined()) {
    heads.query = pass_heads(kRotatedQuery, rotated(heads.query, places.angles));
    heads.key = pass_heads(kRotatedKey, rotated(heads.key, places.angles));
  }
  if (places.cache != nullptr) {
    auto all = places.cache->extend(places.layer, heads.key, heads.value);
    heads.key = std::move(all.key);
    heads.value = std::move(all.value);
  }
  return heads;
}

Tensor GroupedQueryAttention::forward(const Tensor& x, const TokenPlaces& places) const {
  const Heads heads = split(x, places);
  const double p = dropout.active_p();
  const Tensor context =
      places.has_functions
          ? flex_attention(heads.query, heads.key, heads.value, flex_options(config, p, places))
          : scaled_dot_product_attention(heads.query, heads.key, heads.value,
                                         causal_options(config, p, places));
  return project(out_proj, context);
}

Tensor GroupedQueryAttention::forward(const Tensor& x) const {
  return forward(x, places_of(kModule, config, x));
}

AttentionOutput GroupedQueryAttention::with_weights(const Tensor& x,
                                                    const TokenPlaces& places) const {
  const Heads heads = split(x, places);
  const double p = dropout.active_p();
  AttentionOutput out = places.has_functions
                            ? flex_attention_with_weights(heads.query, heads.key, heads.value,
                                                          flex_options(config, p, places))
                            : attention_with_weights(heads.query, heads.key, heads.value,
                                                     causal_options(config, p, places));
  return {out_proj(merge_heads(out.context)), std::move(out.weights)};
}

AttentionOutput GroupedQueryAttention::with_weights(const Tensor& x) const {
  return with_weights(x, places_of(kModule, config, x));
}

}  // namespace tend::attention
