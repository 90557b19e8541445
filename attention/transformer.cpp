#include <tend/attention/transformer.h>

namespace tend::attention {

FeedForward::FeedForward(std::int64_t width) : up(width, 4 * width), down(4 * width, width) {}

TransformerBlock::TransformerBlock(const GPTConfig& c)
    : norm1({c.width}),
      attention(c.width, c.width, c.context_length, c.dropout, c.num_heads, c.qkv_bias),
      norm2({c.width}),
      feed_forward(c.width),
      dropout(c.dropout) {}

Tensor TransformerBlock::add_residuals(const Tensor& x, const Tensor& attended) const {
  const Tensor middle = x + dropout(attended);
  return middle + dropout(feed_forward(norm2(middle)));
}

Tensor TransformerBlock::forward(const Tensor& x) const {
  return add_residuals(x, attention(norm1(x)));
}

AttentionOutput TransformerBlock::with_weights(const Tensor& x) const {
  AttentionOutput out = attention.with_weights(norm1(x));
  return {add_residuals(x, out.context), std::move(out.weights)};
}

namespace {

// Before the weights draw random numbers.
const GPTConfig& checked(const GPTConfig& config) {
  if (config.num_layers < 0)
    fail<ShapeError>("GPT", "num_layers ", config.num_layers, " is negative");
  return config;
}

}  // namespace

GPT::GPT(const GPTConfig& c)
    : config(checked(c)),
      token_embedding(c.vocab_size, c.width),
      position_embedding(c.context_length, c.width),
      dropout(c.dropout),
      norm({c.width}),
      head(c.width, c.vocab_size, /*with_bias=*/false) {
  for (std::int64_t i = 0; i < c.num_layers; ++i) blocks.emplace_back(c);
}

Tensor GPT::embed(const Tensor& tokens) const {
  if (tokens.dim() != 2 || tokens.size(1) > config.context_length) {
    fail<ShapeError>("GPT", "needs tokens (batch, at most ", config.context_length, "), got ",
                     tokens.shape());
  }
  return dropout(token_embedding(tokens) + position_embedding.weight.narrow(0, 0, tokens.size(1)));
}

Tensor GPT::forward(const Tensor& tokens) const {
  Tensor x = embed(tokens);
  for (const TransformerBlock& block : blocks) x = block(x);
  return head(norm(x));
}

GPTOutput GPT::with_weights(const Tensor& tokens) const {
  GPTOutput out;
  Tensor x = embed(tokens);
  for (const TransformerBlock& block : blocks) {
    AttentionOutput step = block.with_weights(x);
    x = std::move(step.context);
    out.weights.push_back(std::move(step.weights));
  }
  out.logits = head(norm(x));
  return out;
}

}  // namespace tend::attention
