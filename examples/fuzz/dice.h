// The random choices of a fuzzer, the same on every machine.
#pragma once

#include <cstdint>
#include <iterator>

namespace fuzz {

/// A linear congruential generator with Knuth's MMIX constants; torch_run.py has the same.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {
    for (int i = 0; i < 8; ++i) uniform();  // neighbouring seeds begin alike
  }

  /// In [0, 1).
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  /// A whole number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(uniform() * static_cast<double>(high - low + 1));
  }
  bool chance(double probability) { return uniform() < probability; }
  /// One of the elements.
  template <class List>
  const auto& of(const List& list) {
    return *(std::begin(list) + between(0, static_cast<std::int64_t>(std::size(list)) - 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace fuzz
