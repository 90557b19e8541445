// Python's random.Random for seeds that are whole numbers. It gives the same random numbers as
// CPython (https://docs.python.org/3/library/random.html).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

namespace lab {

class PythonRandom {
 public:
  /// Seeds with an array, as Matsumoto and Nishimura do. The array has the words of the seed, the
  /// lowest first.
  explicit PythonRandom(std::uint64_t seed) {
    std::vector<std::uint32_t> key{static_cast<std::uint32_t>(seed)};
    if (seed >> 32 != 0) key.push_back(static_cast<std::uint32_t>(seed >> 32));
    state_[0] = 19650218;
    for (std::uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253 * mixed(i) + i;
    std::uint32_t i = 1;
    const auto advance = [&] {
      if (++i < kSize) return;
      state_[0] = state_[kSize - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < kSize; ++k, advance()) {
      const auto j = static_cast<std::uint32_t>(k % key.size());
      state_[i] = (state_[i] ^ (mixed(i) * 1664525)) + key[j] + j;
    }
    for (std::uint32_t k = 1; k < kSize; ++k, advance())
      state_[i] = (state_[i] ^ (mixed(i) * 1566083941)) - i;
    state_[0] = 0x80000000;
  }

  /// A uniform random number in [0, 1), with 53 bits.
  double random() {
    const std::uint32_t high = word() >> 5, low = word() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  /// A random whole number from low to high, both included.
  std::int64_t randint(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) std::swap(items[i], items[below(i + 1)]);
  }
  /// A normal random number. Two are computed at once, and the second is for the next call.
  double gauss(double mean, double std) {
    if (next_gauss_) return mean + *std::exchange(next_gauss_, std::nullopt) * std;
    const double angle = random() * 2 * std::numbers::pi;
    const double radius = std::sqrt(-2 * std::log(1 - random()));
    next_gauss_ = std::sin(angle) * radius;
    return mean + std::cos(angle) * radius * std;
  }
  /// A random index. In Python it is random.choices(range(len(weights)), weights)[0].
  std::size_t choice(const std::vector<double>& weights) {
    std::vector<double> sums;
    sums.reserve(weights.size());
    for (const double weight : weights)
      sums.push_back(sums.empty() ? weight : sums.back() + weight);
    const auto place = std::upper_bound(sums.begin(), sums.end() - 1, random() * sums.back());
    return static_cast<std::size_t>(place - sums.begin());
  }

 private:
  static constexpr std::uint32_t kSize = 624;

  std::uint32_t mixed(std::uint32_t i) const { return state_[i - 1] ^ (state_[i - 1] >> 30); }

  /// The next 32 bits of MT19937.
  std::uint32_t word() {
    const std::uint32_t i = next_, after = (i + 1) % kSize;
    const std::uint32_t both = (state_[i] & 0x80000000) | (state_[after] & 0x7fffffff);
    state_[i] = state_[(i + 397) % kSize] ^ (both >> 1) ^ (both % 2 == 0 ? 0 : 0x9908b0df);
    next_ = after;
    std::uint32_t y = state_[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return y ^ (y >> 18);
  }

  /// A random number below n. Draws numbers with the bit length of n until one is below n.
  std::uint64_t below(std::uint64_t n) {
    const int bits = static_cast<int>(std::bit_width(n));
    while (true) {
      std::uint64_t value = bits > 32 ? word() : word() >> (32 - bits);
      if (bits > 32) value |= static_cast<std::uint64_t>(word() >> (64 - bits)) << 32;
      if (value < n) return value;
    }
  }

  std::array<std::uint32_t, kSize> state_;
  std::uint32_t next_ = 0;
  std::optional<double> next_gauss_;
};

}  // namespace lab
