// Where the tokens of a call stand, worked out once for all layers of a model. Internal to models.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tend/attention/expressions/functions.h>
#include <tend/attention/functions/rotary_angles.h>
#include <tend/attention/models/config.h>
#include <tend/attention/models/gpt_inputs.h>

namespace tend::attention {

struct TokenPlaces {
  std::int64_t query_offset = 0;  // of the first token among the keys
  RotaryAngles angles = {};       // undefined unless the positions are rotary
  bool has_functions = false;     // otherwise attention is causal, without score and mask
  ScoreFunction score = {};
  MaskFunction mask = {};
  KVCache* cache = nullptr;  // with room for the tokens
  std::size_t layer = 0;     // its layer

  /// Those of `tokens` tokens, which follow what is cached, if anything is.
  TokenPlaces(const GPTConfig& config, std::int64_t tokens, DType dtype,
              const GPTInputs& inputs = {});
};

/// Those of x, (..., T, width), which follows nothing. ShapeError, naming `module`, for another
/// width and where T exceeds the context_length.
TokenPlaces places_of(const char* module, const GPTConfig& config, const Tensor& x);

/// The positions that `inputs` give or imply for `tokens` tokens, (tokens,) or (B, tokens): int64.
/// Padding itself has position 0.
Tensor token_positions(std::int64_t tokens, const GPTInputs& inputs);

}  // namespace tend::attention
