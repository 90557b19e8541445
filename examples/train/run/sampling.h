#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "examples/train/task/random.h"

namespace train {

/// How samples of a text are generated. These options are only for texts. Other tasks always choose
/// the likeliest tokens.
struct Sampling {
  std::optional<std::string> prompt;   ///< The text to continue. Empty: held-out beginnings.
  std::uint64_t size = 200;            ///< The number of bytes to generate.
  double temperature = 0.8;            ///< 0 chooses the likeliest byte.
  std::optional<std::uint64_t> top_k;  ///< Sample only from this number of the likeliest bytes.
  std::string given;                   ///< The name of one of these options that was given, or "".
};

/// Describes the sampling for people, as in "at temperature 0.8".
std::string describe(const Sampling& sampling);

/// Samples a token from softmax(logits / temperature) of the top_k likeliest tokens. If logits are
/// equal, the first of them counts as likelier.
std::int64_t draw_token(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace train
