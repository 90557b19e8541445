#include <tend/attention/models/transformer_block.h>

#include <tend/attention/models/token_places.h>
#include <tend/autograd/ops/ops.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {
namespace {

// Hooks: the residual stream before, between and after the two parts, and what the parts add to it.
constexpr nn::HookPoint kBefore("hook_resid_pre"), kBetween("hook_resid_mid"),
    kAfter("hook_resid_post"), kAttended("hook_attn_out"), kFed("hook_mlp_out");

}  // namespace

TransformerBlock::TransformerBlock(const GPTConfig& c)
    : norm1(c.norm, checked_block("TransformerBlock", c).width, c.norm_eps, c.norm_bias),
      attention(c),
      norm2(c.feed_forward == FeedForwardKind::none ? NormKind::none : c.norm, c.width, c.norm_eps,
            c.norm_bias),
      feed_forward(c),
      dropout(c.dropout) {}

Tensor TransformerBlock::add_residuals(const Tensor& x, const Tensor& attended) const {
  if (feed_forward.kind == FeedForwardKind::none) return kAfter(x + dropout(kAttended(attended)));
  const Tensor middle = kBetween(x + dropout(kAttended(attended)));
  return kAfter(middle + dropout(kFed(feed_forward(norm2(middle)))));
}

Tensor TransformerBlock::forward(const Tensor& x) const {
  return forward(x, places_of("TransformerBlock", attention.config, x));
}

Tensor TransformerBlock::forward(const Tensor& x, const TokenPlaces& places) const {
  const Tensor before = kBefore(x);
  return add_residuals(before, attention(norm1(before), places));
}

AttentionOutput TransformerBlock::with_weights(const Tensor& x) const {
  return with_weights(x, places_of("TransformerBlock", attention.config, x));
}

AttentionOutput TransformerBlock::with_weights(const Tensor& x, const TokenPlaces& places) const {
  AttentionOutput out = attention.with_weights(norm1(x), places);
  return {add_residuals(x, out.context), std::move(out.weights)};
}

}  // namespace tend::attention
