#include <tend/attention/models/feed_forward.h>

#include <tend/autograd/ops/ops.h>
#include <tend/nn/module/hook_point.h>

namespace tend::attention {
namespace {

// Hooks before and after the nonlinearity. In gated networks, kPreLinear is the hook of the factor
// that multiplies the gate.
constexpr nn::HookPoint kPre("hook_pre"), kPreLinear("hook_pre_linear"), kPost("hook_post");

GPTConfig plain(std::int64_t width, GeluKind gelu) {
  return {.width = width, .num_heads = 1, .gelu = gelu};
}

std::int64_t hidden_of(const GPTConfig& config) {
  return checked_block("FeedForward", config).hidden_width.value_or(4 * config.width);
}

std::int64_t rows_of_up(const GPTConfig& config) {
  return hidden_of(config) * (is_gated(config.feed_forward) ? 2 : 1);
}

nn::Linear without_parameters() {
  nn::Linear map(1, 0, false);
  map.weight = {};
  return map;
}

}  // namespace

FeedForward::FeedForward(std::int64_t width, GeluKind gelu) : FeedForward(plain(width, gelu)) {}

FeedForward::FeedForward(const GPTConfig& c)
    : kind(c.feed_forward),
      up(kind == FeedForwardKind::none ? without_parameters()
                                       : nn::Linear(c.width, rows_of_up(c), c.feed_forward_bias)),
      activation(c.gelu),
      down(kind == FeedForwardKind::none ? without_parameters()
                                         : nn::Linear(hidden_of(c), c.width, c.feed_forward_bias)) {
}

Tensor FeedForward::forward(const Tensor& x) const {
  if (kind == FeedForwardKind::none) fail("FeedForward", "a network of kind none cannot be called");
  const Tensor inner = up(x);
  if (kind == FeedForwardKind::relu) return down(kPost(relu(kPre(inner))));
  if (!is_gated(kind)) return down(kPost(activation(kPre(inner))));
  const auto parts = inner.chunk(2, -1);
  const Tensor pre = kPre(parts[0]);
  const Tensor gate = kind == FeedForwardKind::swiglu ? silu(pre) : activation(pre);
  return down(kPost(gate * kPreLinear(parts[1])));
}

}  // namespace tend::attention
