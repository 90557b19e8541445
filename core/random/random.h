// The generator behind every random number: PyTorch's, so that a seed gives PyTorch's numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tend {

/// How bernoulli with one probability (and so dropout) turns a seed into a mask. PyTorch has two
/// ways: `standard` is that of macOS, ARM and AMD machines and of builds without MKL; `mkl` that of
/// x86 builds with MKL on Intel processors.
enum class BernoulliStream : std::uint8_t { standard, mkl };

/// MT19937 (Matsumoto and Nishimura 1998), drawing what torch.Generator draws on the CPU. A plain
/// value: a copy is the saved state, assignment restores it, and equal generators give equal
/// numbers.
class Generator {
 public:
  /// Seeded with the low 32 bits of `seed`, as PyTorch does; the default is PyTorch's.
  explicit Generator(std::uint64_t seed = 67280421310721) { manual_seed(seed); }

  /// Starts again from `seed`, and forgets the kept normal number. The Bernoulli stream stays.
  void manual_seed(std::uint64_t seed);
  /// The seed given last.
  std::uint64_t initial_seed() const noexcept { return seed_; }

  BernoulliStream bernoulli_stream() const noexcept { return stream_; }
  void set_bernoulli_stream(BernoulliStream stream) noexcept { stream_ = stream; }

  /// The next 32 bits.
  std::uint32_t u32() noexcept {
    if (next_ == kWords) twist();
    return temper(words_[next_++]);
  }
  /// Two u32, the first in the high half.
  std::uint64_t u64() noexcept {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  /// Fills `out` with what as many calls of u32() would give, but faster.
  void u32(std::span<std::uint32_t> out) noexcept;

  /// In [0, 1), a multiple of 2^-53; takes one u64.
  double uniform() noexcept { return static_cast<double>(u64() & kMantissa) * 0x1p-53; }
  /// From N(0, 1) by Box and Muller, whose method gives two: the second is kept for the next call.
  double normal() noexcept;

  /// The state in 2520 bytes (315 int64), the same on every machine.
  std::vector<std::uint8_t> to_bytes() const;
  /// The generator whose to_bytes() gave `bytes`; IoError if no generator can have given them.
  static Generator from_bytes(std::span<const std::uint8_t> bytes);

  friend bool operator==(const Generator&, const Generator&) = default;

 private:
  static constexpr std::size_t kWords = 624;
  static constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 53) - 1;

  static constexpr std::uint32_t temper(std::uint32_t x) noexcept {
    x ^= x >> 11;
    x ^= (x << 7) & 0x9d2c5680u;
    x ^= (x << 15) & 0xefc60000u;
    return x ^ (x >> 18);
  }
  void twist() noexcept;

  std::array<std::uint32_t, kWords> words_;
  std::size_t next_ = kWords;
  std::uint64_t seed_ = 0;
  std::optional<double> kept_normal_;
  BernoulliStream stream_ = BernoulliStream::standard;
};

/// The generator used where none is given. It starts from a seed of the system's choice, as
/// PyTorch's does. Every function of the library that draws from it holds a GeneratorLock, so
/// threads may share it; code that calls its methods from several threads does the same.
Generator& default_generator();

/// Seeds the default generator.
void manual_seed(std::uint64_t seed);
/// A copy of the default generator, which set_rng_state() restores.
Generator get_rng_state();
void set_rng_state(const Generator& state);

/// Restores the default generator's state when it is destroyed.
class RngStateGuard {
 public:
  [[nodiscard]] RngStateGuard() : before_(get_rng_state()) {}
  ~RngStateGuard() { set_rng_state(before_); }
  RngStateGuard(const RngStateGuard&) = delete;
  RngStateGuard& operator=(const RngStateGuard&) = delete;

 private:
  Generator before_;
};

/// Locks the default generator against other threads while it exists. Does nothing for any other
/// generator, which belongs to its caller. The thread that holds it may draw and may lock again; it
/// must not wait for another thread that draws, such as one of a parallel_for. It must be destroyed
/// on the thread that made it.
class GeneratorLock {
 public:
  explicit GeneratorLock(const Generator& generator);
  ~GeneratorLock();
  GeneratorLock(const GeneratorLock&) = delete;
  GeneratorLock& operator=(const GeneratorLock&) = delete;

 private:
  bool is_locked_;
};

}  // namespace tend
