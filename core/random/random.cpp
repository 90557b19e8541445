#include <tend/core/random/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <numbers>
#include <random>

#include <tend/core/base/error.h>
#include <tend/core/random/random_words.h>

namespace tend {
namespace {

constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kHeaderBytes = 24;

void put(std::vector<std::uint8_t>& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t take(std::span<const std::uint8_t>& bytes, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  bytes = bytes.subspan(width);
  return value;
}

// The thread that uses the default generator holds this mutex.
constinit std::mutex default_mutex;
// The number of this thread's GeneratorLocks on the default generator. Only the outermost lock uses
// the mutex, so that a thread may lock the generator again in a nested call.
constinit thread_local int locks = 0;

}  // namespace

void Generator::manual_seed(std::uint64_t seed) {
  seed_ = seed;
  words_[0] = static_cast<std::uint32_t>(seed);
  for (std::size_t i = 1; i < kWords; ++i) {
    const std::uint32_t last = words_[i - 1];
    words_[i] = 1812433253u * (last ^ last >> 30) + static_cast<std::uint32_t>(i);
  }
  next_ = kWords;
  saved_normal_.reset();
}

void Generator::twist() noexcept {
  kernels::random_kernels().twist(words_.data());
  next_ = 0;
}

void Generator::u32(std::span<std::uint32_t> out) noexcept {
  while (!out.empty()) {
    if (next_ == kWords) twist();
    const std::size_t count = std::min(out.size(), kWords - next_);
    kernels::random_kernels().temper(out.data(), words_.data() + next_, count);
    next_ += count;
    out = out.subspan(count);
  }
}

double Generator::normal() noexcept {
  if (saved_normal_) {
    const double kept = *saved_normal_;
    saved_normal_.reset();
    return kept;
  }
  const double u1 = uniform();
  const double u2 = uniform();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2));
  const double theta = 2.0 * std::numbers::pi * u1;
  saved_normal_ = radius * std::sin(theta);
  return radius * std::cos(theta);
}

std::vector<std::uint8_t> Generator::to_bytes() const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kHeaderBytes + 4 * kWords);
  put(bytes, kFormat, 1);
  put(bytes, static_cast<std::uint64_t>(stream_), 1);
  put(bytes, saved_normal_.has_value(), 2);
  put(bytes, next_, 4);
  put(bytes, seed_, 8);
  put(bytes, std::bit_cast<std::uint64_t>(saved_normal_.value_or(0.0)), 8);
  for (const std::uint32_t word : words_) put(bytes, word, 4);
  return bytes;
}

Generator Generator::from_bytes(std::span<const std::uint8_t> bytes) {
  const auto refuse = [](const auto&... reason) { fail<IoError>("Generator", reason...); };
  if (bytes.size() != kHeaderBytes + 4 * kWords) {
    refuse("a state has ", kHeaderBytes + 4 * kWords, " bytes, got ", bytes.size());
  }
  const std::uint64_t format = take(bytes, 1);
  const std::uint64_t stream = take(bytes, 1);
  const std::uint64_t has_normal = take(bytes, 2);
  const std::uint64_t next = take(bytes, 4);
  const std::uint64_t seed = take(bytes, 8);
  const auto normal = std::bit_cast<double>(take(bytes, 8));
  if (format != kFormat) refuse("the state has format ", format, ", this version reads ", kFormat);
  if (stream > 1 || has_normal > 1)
    refuse("the flags must be 0 or 1, got ", stream, " and ", has_normal);
  if (next > kWords) refuse("position ", next, " is beyond the ", kWords, " words of a state");
  if (!std::isfinite(normal)) refuse("the saved normal number is ", normal);

  Generator generator(seed);
  for (std::uint32_t& word : generator.words_) word = static_cast<std::uint32_t>(take(bytes, 4));
  // The recurrence reads only the top bit of the first word, and all bits of the other words. If
  // all of these are zero, every later word is zero, too.
  const bool stuck = (generator.words_[0] & 0x80000000u) == 0 &&
                     std::all_of(generator.words_.begin() + 1, generator.words_.end(),
                                 [](std::uint32_t word) { return word == 0; });
  if (stuck) refuse("a state of zeros gives zeros forever");
  generator.next_ = next;
  generator.stream_ = static_cast<BernoulliStream>(stream);
  if (has_normal == 1) generator.saved_normal_ = normal;
  return generator;
}

Generator& default_generator() {
  // Never destroyed, because static destructors may still use the generator.
  static Generator& generator = *[] {
    std::random_device device;
    return new Generator(std::uint64_t{device()} << 32 | device());
  }();
  return generator;
}

GeneratorLock::GeneratorLock(const Generator& generator)
    : is_locked_(&generator == &default_generator()) {
  if (is_locked_ && locks++ == 0) default_mutex.lock();
}

GeneratorLock::~GeneratorLock() {
  if (is_locked_ && --locks == 0) default_mutex.unlock();
}

void manual_seed(std::uint64_t seed) {
  const GeneratorLock lock(default_generator());
  default_generator().manual_seed(seed);
}

Generator get_rng_state() {
  const GeneratorLock lock(default_generator());
  return default_generator();
}

void set_rng_state(const Generator& state) {
  const GeneratorLock lock(default_generator());
  default_generator() = state;
}

}  // namespace tend
