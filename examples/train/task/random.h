#pragma once

#include <cstdint>
#include <random>

namespace train {

/// A stream of random integers that is the same on every machine.
///
/// It uses std::mt19937, whose bits the standard specifies, but no distribution of std, because the
/// standard does not specify their results. Streams are cheap and have numbers. So each step has
/// its own stream, its batch depends only on the seed and the step, and a resumed run needs no
/// saved state.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream);

  /// A uniform integer in [0, bound). The bound must be at least 1.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t next();

  std::mt19937 engine_;
};

}  // namespace train
