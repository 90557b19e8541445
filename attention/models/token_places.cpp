#include <tend/attention/models/token_places.h>

#include <tend/attention/book/inputs.h>
#include <tend/attention/expressions/masks.h>
#include <tend/attention/expressions/scores.h>
#include <tend/autograd/ops/ops.h>

// Functions are called while they are made, so capturing locals by reference is safe.
namespace tend::attention {
namespace {

// Positions (B, T) get a dimension for the heads.
Tensor for_heads(const Tensor& positions) {
  return positions.dim() == 2 ? positions.unsqueeze(1) : positions;
}

// scores::alibi for queries that stand behind cached keys; without abs, as later keys are hidden.
ScoreFunction alibi_score(std::int64_t heads, std::int64_t query_offset, DType dtype) {
  const auto slope = lookup(scores::alibi_slopes(heads).to(dtype));
  return [&](auto score, auto at) {
    return score - slope(at.head) * (at.query + query_offset - at.key);
  };
}

}  // namespace

Tensor token_positions(std::int64_t first, std::int64_t tokens, const Tensor& padding) {
  Tensor positions = arange(first, first + tokens, 1, {.dtype = int64});
  if (!padding.defined()) return positions;
  return clamp_min(positions - padding.unsqueeze(-1), 0);
}

TokenPlaces::TokenPlaces(const GPTConfig& config, std::int64_t tokens, DType dtype, KVCache* cached,
                         const Tensor& padding)
    : cache(cached) {
  const std::int64_t length = cache != nullptr ? cache->length() : 0;
  const std::int64_t first_key = cache != nullptr ? cache->first() : 0;
  query_offset = length - first_key;
  if (config.positions == PositionKind::rotary) {
    angles = rotary_angles(for_heads(token_positions(length, tokens, padding)),
                           config.rotary.dims.value_or(checked_block("GPT", config).head_size()),
                           config.rotary, dtype);
  }
  const bool has_window = config.window && query_offset + tokens > *config.window;
  if (!has_window && !padding.defined() && config.positions != PositionKind::alibi) return;
  has_functions = true;
  if (config.positions == PositionKind::alibi) {
    score = alibi_score(config.num_heads, query_offset, dtype);
  }
  mask = masks::causal_bottom_right(tokens, query_offset + tokens);
  if (has_window) {
    mask = mask &&
           MaskFunction([&](auto at) { return at.query + query_offset - at.key < *config.window; });
  }
  if (padding.defined()) {
    const auto first = lookup(padding - first_key);
    mask = mask && MaskFunction([&](auto at) { return at.key >= first(at.batch); });
  }
}

TokenPlaces places_of(const char* module, const GPTConfig& config, const Tensor& x) {
  check_tokens(module, x, config.width, config.context_length);
  return {config, x.size(-2), x.dtype()};
}

}  // namespace tend::attention
