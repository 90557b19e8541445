#include <tend/attention/models/token_places.h>

#include <tend/attention/book/inputs.h>
#include <tend/attention/expressions/masks.h>
#include <tend/attention/expressions/scores.h>
#include <tend/autograd/ops/ops.h>

// The lambdas below are called only while they are converted to score and mask functions. So they
// may capture by reference.
namespace tend::attention {
namespace {

// Adds a dimension for the heads to positions (B, T).
Tensor for_heads(const Tensor& positions) {
  return positions.dim() == 2 ? positions.unsqueeze(1) : positions;
}

// scores::alibi for queries that follow cached keys. It needs no abs, since later keys are hidden.
ScoreFunction alibi_score(std::int64_t heads, std::int64_t query_offset, DType dtype) {
  const auto slope = lookup(scores::alibi_slopes(heads).to(dtype));
  return [&](auto score, auto at) {
    return score - slope(at.head) * (at.query + query_offset - at.key);
  };
}

// scores::alibi for tokens at these positions, (T) or (B, T).
ScoreFunction alibi_score(std::int64_t heads, const Tensor& positions, DType dtype) {
  const auto slope = lookup(scores::alibi_slopes(heads).to(dtype));
  const auto position = lookup(positions);
  return [&](auto score, auto at) {
    if (positions.dim() == 1)
      return score - slope(at.head) * (position(at.query) - position(at.key));
    return score - slope(at.head) * (position(at.batch, at.query) - position(at.batch, at.key));
  };
}

// Hides other documents. A document gets the index of its first token as its number, so that two
// separate runs of equal numbers are different documents.
MaskFunction own_document(const Tensor& documents) {
  const Tensor place = arange(0, documents.size(-1), 1, {.dtype = int64});
  return masks::documents(place - masks::document_positions(documents));
}

std::int64_t length_of(const KVCache* cache) {
  return cache != nullptr ? cache->length() : 0;
}

}  // namespace

Tensor token_positions(std::int64_t tokens, const GPTInputs& inputs) {
  if (inputs.positions.defined()) return inputs.positions;
  if (inputs.documents.defined()) return masks::document_positions(inputs.documents);
  const std::int64_t first = length_of(inputs.cache);
  Tensor positions = arange(first, first + tokens, 1, {.dtype = int64});
  if (!inputs.padding.defined()) return positions;
  return clamp_min(positions - inputs.padding.unsqueeze(-1), 0);
}

TokenPlaces::TokenPlaces(const GPTConfig& config, std::int64_t tokens, DType dtype,
                         const GPTInputs& inputs)
    : cache(inputs.cache) {
  const std::int64_t first_key = cache != nullptr ? cache->first() : 0;
  query_offset = length_of(cache) - first_key;
  if (config.positions == PositionKind::rotary) {
    angles = rotary_angles(for_heads(token_positions(tokens, inputs)),
                           config.rotary.dims.value_or(checked_block("GPT", config).head_size()),
                           config.rotary, dtype);
  }
  const bool has_window = config.window && query_offset + tokens > *config.window;
  const bool hides = has_window || inputs.padding.defined() || inputs.documents.defined();
  if (!hides && config.positions != PositionKind::alibi) return;
  has_functions = true;
  if (config.positions == PositionKind::alibi) {
    score = inputs.positions.defined() ? alibi_score(config.num_heads, inputs.positions, dtype)
                                       : alibi_score(config.num_heads, query_offset, dtype);
  }
  mask = masks::causal_bottom_right(tokens, query_offset + tokens);
  if (has_window) {
    mask = mask &&
           MaskFunction([&](auto at) { return at.query + query_offset - at.key < *config.window; });
  }
  if (inputs.padding.defined()) {
    const auto first = lookup(inputs.padding - first_key);
    mask = mask && MaskFunction([&](auto at) { return at.key >= first(at.batch); });
  }
  if (inputs.documents.defined()) mask = mask && own_document(inputs.documents);
}

TokenPlaces places_of(const char* module, const GPTConfig& config, const Tensor& x) {
  check_tokens(module, x, config.width, config.context_length);
  return {config, x.size(-2), x.dtype()};
}

}  // namespace tend::attention
