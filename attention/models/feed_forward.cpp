#include <tend/attention/models/feed_forward.h>

#include <tend/autograd/ops/ops.h>

namespace tend::attention {
namespace {

GPTConfig plain(std::int64_t width, GeluKind gelu) {
  return {.width = width, .num_heads = 1, .gelu = gelu};
}

std::int64_t hidden_of(const GPTConfig& config) {
  return checked_block("FeedForward", config).hidden_width.value_or(4 * config.width);
}

std::int64_t rows_of_up(const GPTConfig& config) {
  return hidden_of(config) * (config.feed_forward == FeedForwardKind::gelu ? 1 : 2);
}

}  // namespace

FeedForward::FeedForward(std::int64_t width, GeluKind gelu) : FeedForward(plain(width, gelu)) {}

FeedForward::FeedForward(const GPTConfig& c)
    : kind(c.feed_forward),
      up(c.width, rows_of_up(c), c.feed_forward_bias),
      activation(c.gelu),
      down(hidden_of(c), c.width, c.feed_forward_bias) {}

Tensor FeedForward::forward(const Tensor& x) const {
  const Tensor inner = up(x);
  if (kind == FeedForwardKind::gelu) return down(activation(inner));
  const auto parts = inner.chunk(2, -1);
  const Tensor gate = kind == FeedForwardKind::swiglu ? silu(parts[0]) : activation(parts[0]);
  return down(gate * parts[1]);
}

}  // namespace tend::attention
