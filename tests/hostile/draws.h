// Random choices, the same on every machine.
#pragma once

#include <cstdint>

#include "examples/fuzz/dice.h"

namespace tend::test {

/// The choices of one call.
class Draws : public fuzz::Dice {
 public:
  explicit Draws(std::uint64_t seed) : Dice(seed) {}
  /// The draws of call `index` of a run, so that it can be made again by itself.
  Draws(std::uint64_t seed, std::int64_t index)
      : Dice(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(index)) {}
};

}  // namespace tend::test
