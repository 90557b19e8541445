#include <tend/attention/models/transformer_block.h>

#include <tend/attention/models/token_places.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {

TransformerBlock::TransformerBlock(const GPTConfig& c)
    : norm1(c.norm, checked_block("TransformerBlock", c).width, c.norm_eps, c.norm_bias),
      attention(c),
      norm2(c.norm, c.width, c.norm_eps, c.norm_bias),
      feed_forward(c),
      dropout(c.dropout) {}

Tensor TransformerBlock::add_residuals(const Tensor& x, const Tensor& attended) const {
  const Tensor middle = x + dropout(attended);
  return middle + dropout(feed_forward(norm2(middle)));
}

Tensor TransformerBlock::forward(const Tensor& x) const {
  return forward(x, places_of("TransformerBlock", attention.config, x));
}

Tensor TransformerBlock::forward(const Tensor& x, const TokenPlaces& places) const {
  return add_residuals(x, attention(norm1(x), places));
}

AttentionOutput TransformerBlock::with_weights(const Tensor& x) const {
  return with_weights(x, places_of("TransformerBlock", attention.config, x));
}

AttentionOutput TransformerBlock::with_weights(const Tensor& x, const TokenPlaces& places) const {
  AttentionOutput out = attention.with_weights(norm1(x), places);
  return {add_residuals(x, out.context), std::move(out.weights)};
}

}  // namespace tend::attention
