#pragma once

#include <cstdint>
#include <random>

namespace train {

/// A stream of integers that is the same on every machine: std::mt19937 is specified to the bit,
/// the standard's distributions are not. Streams are cheap and named by numbers, so a batch is a
/// function of (seed, step) and a resumed run needs no saved state.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream);

  /// Uniform in [0, bound); bound is at least 1.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t next();

  std::mt19937 engine_;
};

}  // namespace train
