#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "examples/train/task/random.h"

namespace train {

/// How samples of a text are written. What is asked for by name is not for other tasks, whose
/// answers are the likeliest tokens.
struct Sampling {
  std::optional<std::string> prompt;   ///< What to go on from; none: held-out beginnings.
  std::uint64_t size = 200;            ///< Bytes of a sample.
  double temperature = 0.8;            ///< 0: the likeliest byte.
  std::optional<std::uint64_t> top_k;  ///< Only so many of the likeliest bytes are drawn from.
  std::string given;                   ///< An option of these that was given; empty if none was.
};

/// "at temperature 0.8", for people.
std::string describe(const Sampling& sampling);

/// A token, drawn from softmax(logits / temperature) of the top_k likeliest; of equal
/// ones the first count as likelier.
std::int64_t draw_token(std::span<const float> logits, const Sampling& sampling, Random& random);

}  // namespace train
