// Random choices, the same on every machine.
#pragma once

#include <cstdint>
#include <iterator>

namespace tend::test {

/// A linear congruential generator (Knuth's MMIX constants).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {
    for (int i = 0; i < 8; ++i) uniform();  // neighbouring seeds begin alike
  }
  /// The draws of call `index` of a run, so that it can be made again by itself.
  Draws(std::uint64_t seed, std::int64_t index)
      : Draws(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(index)) {}

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

}  // namespace tend::test
