#include <tend/attention/modules/transformer.h>

#include <tend/attention/modules/input_check.h>
#include <tend/autograd/ops/ops.h>

namespace tend::attention {

namespace {

std::int64_t four_times(std::int64_t width) {
  std::int64_t product = 0;
  if (width < 1 || __builtin_mul_overflow(width, 4, &product))
    fail<ShapeError>("FeedForward", "width ", width, " is no size");
  return product;
}

// Checks the sizes of a block, before any of its weights are drawn.
const GPTConfig& checked_block(const char* module, const GPTConfig& c) {
  checked_d_in(module, c.width, c.width, c.context_length, c.dropout);
  if (c.num_heads < 1 || c.width % c.num_heads != 0) {
    fail<ShapeError>(module, "width ", c.width, " must be divisible by num_heads ", c.num_heads);
  }
  four_times(c.width);
  return c;
}

}  // namespace

FeedForward::FeedForward(std::int64_t width, GeluKind gelu)
    : up(width, four_times(width)), activation(gelu), down(four_times(width), width) {}

TransformerBlock::TransformerBlock(const GPTConfig& c)
    : norm1({checked_block("TransformerBlock", c).width}),
      attention(c.width, c.width, c.context_length, c.dropout, c.num_heads, c.qkv_bias),
      norm2({c.width}),
      feed_forward(c.width, c.gelu),
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

// Checks all sizes before any weights are drawn.
const GPTConfig& checked(const GPTConfig& config) {
  if (config.num_layers < 0)
    fail<ShapeError>("GPT", "num_layers ", config.num_layers, " is negative");
  if (config.vocab_size < 0)
    fail<ShapeError>("GPT", "vocab_size ", config.vocab_size, " is negative");
  return checked_block("GPT", config);
}

}  // namespace

GPT::GPT(const GPTConfig& c)
    : config(checked(c)),
      token_embedding(c.vocab_size, c.width),
      position_embedding(c.context_length, c.width),
      dropout(c.dropout),
      norm({c.width}),
      head(c.width, c.vocab_size, /*with_bias=*/false) {
  blocks.reserve(c.num_layers);
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
  return with_memory([&] {
    GPTOutput out;
    Tensor x = embed(tokens);
    for (const TransformerBlock& block : blocks) {
      AttentionOutput step = block.with_weights(x);
      x = std::move(step.context);
      out.weights.push_back(std::move(step.weights));
    }
    out.logits = head(norm(x));
    return out;
  });
}

}  // namespace tend::attention
