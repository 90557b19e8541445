#include <tend/core/random/random.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <tend/core/random/distributions.h>

#include "tests/catch.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;

namespace {

// A generator that has used some of its words and has saved a normal number.
Generator used_generator() {
  Generator generator(std::uint64_t{7} << 32 | 5);
  generator.set_bernoulli_stream(BernoulliStream::mkl);
  for (int i = 0; i < 1000; ++i) generator.u32();
  generator.normal();
  return generator;
}

struct DefaultGeneratorGuard {
  ~DefaultGeneratorGuard() { set_rng_state(before); }
  Generator before = get_rng_state();
};

}  // namespace

TEST_CASE("A generator gives the same words as std::mt19937") {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{123}, std::uint64_t{0xffffffff},
                                   std::uint64_t{5} << 32 | 77, ~std::uint64_t{0}}) {
    std::mt19937 standard(static_cast<std::uint32_t>(seed));
    Generator generator(seed);
    CHECK(generator.initial_seed() == seed);
    bool same = true;
    for (int i = 0; i < 3000; ++i) same = same && generator.u32() == standard();
    CHECK(same);
  }
}

TEST_CASE("Many words from one call are the same as words from single calls") {
  Generator one(42);
  Generator many(42);
  for (const std::size_t count : {1u, 0u, 622u, 1u, 1u, 624u, 3u, 2000u, 623u}) {
    std::vector<std::uint32_t> words(count);
    many.u32(words);
    for (const std::uint32_t word : words) REQUIRE(word == one.u32());
    CHECK(many == one);
  }
}

TEST_CASE("A 64-bit number uses two words of which the first is the high half") {
  Generator words(9);
  const std::uint64_t high = words.u32();
  const std::uint64_t low = words.u32();
  CHECK(Generator(9).u64() == (high << 32 | low));
  CHECK(Generator(9).uniform() ==
        static_cast<double>((high << 32 | low) & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53);
}

TEST_CASE("The second of two normal numbers is saved until it is used or the seed is set") {
  Generator generator(3);
  generator.normal();
  Generator without = generator;
  const double kept = generator.normal();
  CHECK(generator.u32() == without.u32());  // the saved number used no word
  Generator seeded = without;
  seeded.manual_seed(3);
  CHECK(seeded == Generator(3));
  CHECK(without.normal() == kept);
}

TEST_CASE("A copied generator gives the same numbers as the original") {
  Generator generator = used_generator();
  const Generator saved = generator;
  const double first = generator.normal();
  const std::uint64_t second = generator.u64();
  CHECK_FALSE(generator == saved);
  generator = saved;
  CHECK(generator == saved);
  CHECK(generator.normal() == first);
  CHECK(generator.u64() == second);
}

TEST_CASE("A generator is restored exactly from its bytes") {
  for (const Generator& generator : {used_generator(), Generator(), Generator(1)}) {
    const std::vector<std::uint8_t> bytes = generator.to_bytes();
    CHECK(bytes.size() == 2520);
    CHECK(Generator::from_bytes(bytes) == generator);
    CHECK(Generator::from_bytes(bytes).bernoulli_stream() == generator.bernoulli_stream());
  }
}

TEST_CASE("Bytes that are not the state of a generator are refused") {
  const std::vector<std::uint8_t> good = used_generator().to_bytes();
  const auto refused = [&](auto change, const std::string& message) {
    std::vector<std::uint8_t> bytes = good;
    change(bytes);
    CHECK_THROWS_AS(Generator::from_bytes(bytes), IoError);
    CHECK_THROWS_WITH(Generator::from_bytes(bytes), ContainsSubstring(message));
  };
  refused([](auto& b) { b.clear(); }, "[Generator] a state has 2520 bytes, got 0");
  refused([](auto& b) { b.push_back(0); }, "2520 bytes, got 2521");
  refused([](auto& b) { b[0] = 9; }, "the state has format 9, this version reads 1");
  refused([](auto& b) { b[1] = 2; }, "the flags must be 0 or 1, got 2 and 1");
  refused([](auto& b) { b[3] = 1; }, "the flags must be 0 or 1, got 1 and 257");
  refused([](auto& b) { b[6] = 1; }, "is beyond the 624 words");
  refused([](auto& b) { std::fill_n(b.begin() + 16, 8, std::uint8_t{0xff}); },
          "the saved normal number is");
  refused([](auto& b) { std::fill(b.begin() + 24, b.end(), std::uint8_t{0}); },
          "a state of zeros gives zeros forever");
}

TEST_CASE("Functions seed and save and restore the default generator") {
  const DefaultGeneratorGuard guard;
  manual_seed(123);
  CHECK(default_generator() == Generator(123));
  const Generator state = get_rng_state();
  const Array first = Array::empty({5}, float32);
  kernels::uniform(first);
  set_rng_state(state);
  const Array second = Array::empty({5}, float32);
  kernels::uniform(second);
  CHECK(first.to_vector<float>() == second.to_vector<float>());
  CHECK_FALSE(get_rng_state() == state);
}

TEST_CASE("Threads share the default generator") {
  const DefaultGeneratorGuard guard;
  constexpr std::int64_t kDraws = 500;
  constexpr std::int64_t kWidth = 7;
  manual_seed(11);
  const Array rows = Array::empty({4, kDraws, kWidth}, float64);
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([rows, t] {
      for (std::int64_t i = 0; i < kDraws; ++i) kernels::uniform(rows.select(0, t).select(0, i));
    });
  }
  for (std::thread& thread : threads) thread.join();

  // Each call got seven consecutive numbers of the stream, and every number was used once.
  const Array whole = Array::empty({4 * kDraws, kWidth}, float64);
  manual_seed(11);
  kernels::uniform(whole);
  const auto sorted = [](const Array& array) {
    const std::vector<double> flat = array.to_vector<double>();
    std::vector<std::vector<double>> calls;
    for (auto at = flat.begin(); at != flat.end(); at += kWidth)
      calls.emplace_back(at, at + kWidth);
    std::sort(calls.begin(), calls.end());
    return calls;
  };
  CHECK(sorted(rows) == sorted(whole));
}
