// The generator of all random numbers. It is PyTorch's generator, so a seed gives PyTorch's
// numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tend {

/// The algorithm of bernoulli with one probability for all elements. Dropout uses it, too.
///
/// PyTorch has two algorithms, which give different masks for the same seed. PyTorch uses `mkl` in
/// x86 builds with MKL on Intel processors. It uses `standard` on macOS, ARM and AMD machines and
/// in builds without MKL.
enum class BernoulliStream : std::uint8_t { standard, mkl };

/// A random generator with the same numbers as torch.Generator on the CPU.
///
/// The algorithm is MT19937 (Matsumoto and Nishimura 1998). A Generator is a value: a copy saves
/// the state, and assigning the copy restores it. Equal generators give equal numbers.
class Generator {
 public:
  /// A generator seeded with the low 32 bits of `seed`, as in PyTorch. The default seed is
  /// PyTorch's.
  explicit Generator(std::uint64_t seed = 67280421310721) { manual_seed(seed); }

  /// Starts again from `seed`, and discards the saved normal number. The Bernoulli stream does not
  /// change.
  void manual_seed(std::uint64_t seed);
  /// The last seed that was set.
  std::uint64_t initial_seed() const noexcept { return seed_; }

  BernoulliStream bernoulli_stream() const noexcept { return stream_; }
  void set_bernoulli_stream(BernoulliStream stream) noexcept { stream_ = stream; }

  /// The next 32 random bits.
  std::uint32_t u32() noexcept {
    if (next_ == kWords) twist();
    return temper(words_[next_++]);
  }
  /// The next 64 random bits. The next u32() is the high half, the one after it the low half.
  std::uint64_t u64() noexcept {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  /// Fills `out` with the results of repeated calls of u32(), but is faster.
  void u32(std::span<std::uint32_t> out) noexcept;

  /// A uniform random number in [0, 1), a multiple of 2^-53. It uses one u64.
  double uniform() noexcept { return static_cast<double>(u64() & kMantissa) * 0x1p-53; }
  /// A random number from N(0, 1), by the Box-Muller method. The method gives two numbers; the
  /// second is saved for the next call.
  double normal() noexcept;

  /// The state in 2520 bytes (315 int64), the same on every machine.
  std::vector<std::uint8_t> to_bytes() const;
  /// The generator with the state `bytes`, a result of to_bytes().
  ///
  /// Throws: IoError - `bytes` is not the state of a generator
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
  std::optional<double> saved_normal_;
  BernoulliStream stream_ = BernoulliStream::standard;
};

/// The generator that functions use by default.
///
/// It starts from a random seed that the system supplies, as in PyTorch. Threads may share it:
/// every function of the library that uses it holds a GeneratorLock. Code that calls its methods
/// from several threads must also hold a GeneratorLock.
Generator& default_generator();

/// Seeds the default generator.
void manual_seed(std::uint64_t seed);
/// A copy of the default generator, for set_rng_state().
Generator get_rng_state();
/// Sets the default generator to `state`.
void set_rng_state(const Generator& state);

/// Saves the default generator's state, and restores it when the guard is destroyed.
class RngStateGuard {
 public:
  [[nodiscard]] RngStateGuard() : before_(get_rng_state()) {}
  ~RngStateGuard() { set_rng_state(before_); }
  RngStateGuard(const RngStateGuard&) = delete;
  RngStateGuard& operator=(const RngStateGuard&) = delete;

 private:
  Generator before_;
};

/// Locks the default generator against other threads while the lock exists. It does nothing for any
/// other generator, since such a generator belongs to its caller.
///
/// The thread that holds the lock may use the generator and may lock it again. That thread must not
/// wait for another thread that uses the generator, such as a thread of a parallel_for. The lock
/// must be destroyed on the thread that made it.
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
