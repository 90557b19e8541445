#include <tend/attention/models/config.h>

#include <cmath>

#include <tend/attention/functions/rotary_angles.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/base/error.h>

namespace tend::attention {
namespace {

void check_size(const char* module, const char* name, std::int64_t size) {
  if (size < 1) fail<ShapeError>(module, name, " must be at least 1, got ", size);
}

void check_heads(const char* module, const GPTConfig& c) {
  check_size(module, "num_heads", c.num_heads);
  if (c.head_dim) {
    check_size(module, "head_dim", *c.head_dim);
  } else if (c.width % c.num_heads != 0) {
    fail<ShapeError>(module, "width ", c.width, " must be divisible by num_heads ", c.num_heads);
  }
  check_size(module, "num_kv_heads", c.kv_heads());
  if (c.num_heads % c.kv_heads() != 0) {
    fail<ShapeError>(module, "num_heads ", c.num_heads, " must be divisible by num_kv_heads ",
                     c.kv_heads());
  }
  std::int64_t product = 0;
  if (__builtin_mul_overflow(c.num_heads, c.head_size(), &product)) {
    fail<ShapeError>(module, "num_heads ", c.num_heads, " times head_dim ", c.head_size(),
                     " is too large");
  }
}

void check_rotary(const char* module, const GPTConfig& c) {
  if (c.positions != PositionKind::rotary) return;
  check_rotary_numbers(module, c.rotary);
  const std::int64_t dims = c.rotary.dims.value_or(c.head_size());
  if (dims < 2 || dims > c.head_size() || dims % 2 != 0) {
    fail<ShapeError>(module, "rotary dims ", dims, " must be even and from 2 to the head_dim ",
                     c.head_size());
  }
}

// Checks the width of the feed-forward network. Gate and up are one matrix with 2 * hidden rows.
void check_hidden(const char* module, const GPTConfig& c) {
  if (c.hidden_width) check_size(module, "hidden_width", *c.hidden_width);
  std::int64_t hidden = c.hidden_width.value_or(0), rows = 0;
  if ((!c.hidden_width && __builtin_mul_overflow(c.width, 4, &hidden)) ||
      __builtin_mul_overflow(hidden, 2, &rows)) {
    fail<ShapeError>(module, "width ", c.width, " or hidden_width is too large");
  }
}

}  // namespace

std::int64_t GPTConfig::head_size() const {
  if (head_dim) return *head_dim;
  if (num_heads < 1) fail<ShapeError>("GPTConfig", "num_heads must be at least 1, got ", num_heads);
  return width / num_heads;
}

const GPTConfig& checked_block(const char* module, const GPTConfig& c) {
  check_size(module, "width", c.width);
  if (c.context_length < 0)
    fail<ShapeError>(module, "context_length ", c.context_length, " is negative");
  check_heads(module, c);
  check_rotary(module, c);
  check_hidden(module, c);
  if (c.window) check_size(module, "window", *c.window);
  if (!(c.norm_eps >= 0 && std::isfinite(c.norm_eps)))
    fail(module, "norm_eps ", c.norm_eps, " must be at least 0 and finite");
  for (const double p :
       {c.dropout, c.attention_dropout.value_or(0), c.embedding_dropout.value_or(0)})
    check_dropout(module, p);
  return c;
}

}  // namespace tend::attention
