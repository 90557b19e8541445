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
  /// The text to continue. If it is not set, the samples continue beginnings of held-out text.
  std::optional<std::string> prompt;
  std::uint64_t size = 200;            ///< The number of bytes to generate.
  double temperature = 0.8;            ///< 0 chooses the likeliest byte.
  std::optional<std::uint64_t> top_k;  ///< Samples only from the `top_k` likeliest bytes.
  /// The name of a sampling option that the user gave (for error messages), or "".
  std::string given;
};

/// Describes the sampling for people, as in "at temperature 0.8".
std::string describe(const Sampling& sampling);

/// Samples a token from softmax(logits / temperature) of the top_k likeliest tokens. If logits are
/// equal, the first of them counts as likelier.
std::int64_t draw_token(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace train
