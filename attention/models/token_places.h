// The positions of the tokens of a call, computed once for all layers of a model. Internal to
// models.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/attention/expressions/functions.h>
#include <tend/attention/functions/rotary_angles.h>
#include <tend/attention/models/config.h>
#include <tend/attention/models/gpt_inputs.h>

namespace tend::attention {

/// The positions and masks that the attention of each layer uses.
struct TokenPlaces {
  std::int64_t query_offset = 0;  // the number of stored keys before the first token
  RotaryAngles angles = {};       // undefined unless the positions are rotary
  bool has_functions = false;     // if false, attention is causal, and score and mask are not used
  ScoreFunction score = {};
  MaskFunction mask = {};
  KVCache* cache = nullptr;  // has room for the tokens
  std::size_t layer = 0;     // the layer that reads this object

  /// Describes `tokens` tokens, which follow the cached tokens if there is a cache.
  TokenPlaces(const GPTConfig& config, std::int64_t tokens, DType dtype,
              const GPTInputs& inputs = {});
};

/// The TokenPlaces of x, (..., T, width), in a call without a cache. `module` is the name in
/// messages.
///
/// Throws: ShapeError - the width differs, or T exceeds the context_length
TokenPlaces places_of(const char* module, const GPTConfig& config, const Tensor& x);

/// The positions of `tokens` tokens: inputs.positions or their default, int64, (tokens,) or (B,
/// tokens). Padding has position 0.
Tensor token_positions(std::int64_t tokens, const GPTInputs& inputs);

}  // namespace tend::attention
