#include "examples/train/task/random.h"

#include <limits>

namespace train {

namespace {

std::mt19937 seeded(std::uint64_t seed, std::uint64_t stream) {
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  std::seed_seq words{low(seed), high(seed), low(stream), high(stream)};
  return std::mt19937(words);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) : engine_(seeded(seed, stream)) {}

std::uint64_t Random::next() {
  const std::uint64_t high = engine_();
  return (high << 32) | engine_();
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Numbers from the last, incomplete run of `bound` numbers are rejected. Then every remainder is
  // equally likely.
  const std::uint64_t complete = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  std::uint64_t number = next();
  while (number >= complete) {
    number = next();
  }
  return number % bound;
}

}  // namespace train
