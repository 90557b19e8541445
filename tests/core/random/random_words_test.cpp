// The conversion of the generator's words to numbers, many at a time.
#include <cstdint>
#include <string>
#include <vector>

#include <tend/core/random/distributions.h>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/simd_targets.h"

using namespace tend;
using tend::test::for_each_simd_target;
using tend::test::same_bits;

TEST_CASE("Keep bits are the keep mask with eight elements in a byte") {
  for (const BernoulliStream stream : {BernoulliStream::standard, BernoulliStream::mkl}) {
    for (const std::int64_t count : {0, 1, 7, 8, 9, 63, 100, 2047, 2048, 5003}) {
      Generator one(3), other(3);
      one.set_bernoulli_stream(stream);
      other.set_bernoulli_stream(stream);
      const Array mask = Array::empty({count}, boolean);
      std::vector<std::uint8_t> bits(static_cast<std::size_t>(count / 8 + 2), 0xff);
      kernels::draw_keep_mask(mask, 0.7, one);
      kernels::draw_keep_bits(bits.data(), count, 0.7, other);
      CHECK(one == other);
      std::vector<bool> unpacked;
      for (std::int64_t i = 0; i < (count + 7) / 8 * 8; ++i)
        unpacked.push_back((bits[static_cast<std::size_t>(i / 8)] >> (i % 8) & 1) != 0);
      std::vector<bool> expected = mask.to_vector<bool>();
      expected.resize(unpacked.size(), false);
      CHECK(unpacked == expected);
      CHECK(bits[static_cast<std::size_t>((count + 7) / 8)] == 0xff);
    }
  }
  std::uint8_t bits[2];
  Generator untouched(1);
  kernels::draw_keep_bits(bits, 11, 1.0, untouched);
  CHECK((bits[0] == 0xff && bits[1] == 7));
  kernels::draw_keep_bits(bits, 11, 0.0, untouched);
  CHECK((bits[0] == 0 && bits[1] == 0));
  CHECK(untouched == Generator(1));
}

TEST_CASE("Every target gives the same random numbers") {
  const auto draw = [](Generator generator) {
    std::vector<Array> drawn;
    for (const std::int64_t count : {1, 5, 16, 1000, 3001}) {
      for (const DType dtype : {float32, float64}) {
        drawn.push_back(Array::empty({count}, dtype));
        kernels::uniform(drawn.back(), 0.0, 1.0, generator);
      }
      drawn.push_back(Array::empty({count}, boolean));
      kernels::draw_keep_mask(drawn.back(), 0.3, generator);
      drawn.push_back(Array::full({}, static_cast<std::int64_t>(generator.u32()), int64));
    }
    return drawn;
  };
  const std::vector<Array> expected = draw(Generator(11));
  // The first numbers are compared with the generator's own functions, which random_test.cpp
  // checks.
  Generator words(11);
  CHECK(expected[0].item<float>() == static_cast<float>(words.u32() & 0xffffffu) * 0x1p-24f);
  CHECK(expected[1].item<double>() == words.uniform());
  CHECK(expected[2].item<bool>() == (words.uniform() < 0.3));
  for_each_simd_target([&](const std::string& target) {
    INFO(target);
    const std::vector<Array> drawn = draw(Generator(11));
    for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(same_bits(drawn[i], expected[i]));
  });
}
