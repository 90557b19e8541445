// Compares conversions to 16-bit floats with PyTorch's .to(float16) and .to(bfloat16) in
// tests/data/half.json (tests/data/make_half.py).
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <tend/nn/files/half.h>

#include "tests/catch.h"

#include <nlohmann/json.hpp>

using tend::nn::bfloat_to_float;
using tend::nn::float_to_bfloat;
using tend::nn::float_to_half;
using tend::nn::half_to_float;

namespace {

const nlohmann::json& torch_halves() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(TEND_TEST_DATA "/half.json"));
  return data;
}

// Checks that each 16-bit number is converted to itself. A number between two 16-bit neighbours
// must become the nearer neighbour, and the middle must become the neighbour with even bits. The
// loop ends before the bits `infinity`.
template <class ToFloat, class FromFloat>
void check_nearest(std::uint16_t infinity, ToFloat to_float, FromFloat from_float) {
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const auto next_bits = static_cast<std::uint16_t>(bits + 1);
    const float here = to_float(bits);
    // If the next number is infinite, uses the distance between the two numbers before it.
    const float next = next_bits < infinity
                           ? to_float(next_bits)
                           : here + (here - to_float(static_cast<std::uint16_t>(bits - 1)));
    const auto middle = static_cast<float>((static_cast<double>(here) + next) / 2);
    const bool is_good =
        from_float(here) == bits && from_float(-here) == (bits | 0x8000) &&
        from_float(middle) == (bits % 2 == 0 ? bits : next_bits) &&
        from_float(std::nextafter(middle, 0.0f)) == bits &&
        from_float(std::nextafter(middle, std::numeric_limits<float>::infinity())) == next_bits;
    if (!is_good) FAIL_CHECK("around the bits " << bits);
  }
}

}  // namespace

TEST_CASE("conversion to a 16-bit float rounds to the nearest one") {
  check_nearest(0x7c00, half_to_float, float_to_half);
  // The check ends at the largest bfloat16, because the next number would be beyond float32. A test
  // below converts the largest float32.
  check_nearest(0x7f7f, bfloat_to_float, float_to_bfloat);
}

TEST_CASE("numbers become the same 16-bit floats as in PyTorch") {
  const auto& floats = torch_halves().at("floats");
  std::size_t count = 0;
  for (const auto& bits : floats.at("bits")) {
    const float number = std::bit_cast<float>(bits.get<std::uint32_t>());
    INFO(number);
    CHECK(float_to_half(number) == floats.at("float16")[count].get<std::uint16_t>());
    CHECK(float_to_bfloat(number) == floats.at("bfloat16")[count].get<std::uint16_t>());
    ++count;
  }
  CHECK(count > 1000);
  const auto& doubles = torch_halves().at("doubles");
  for (std::size_t i = 0; i < doubles.at("values").size(); ++i) {
    const std::string text = doubles.at("values")[i].get<std::string>();
    INFO(text);
    const auto number = static_cast<float>(std::strtod(text.c_str(), nullptr));
    CHECK(float_to_half(number) == doubles.at("float16")[i].get<std::uint16_t>());
    CHECK(float_to_bfloat(number) == doubles.at("bfloat16")[i].get<std::uint16_t>());
  }
}

TEST_CASE("infinities stay infinite in 16 bits and every NaN stays NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(float_to_half(infinity) == 0x7c00);
  CHECK(float_to_half(-infinity) == 0xfc00);
  CHECK(float_to_bfloat(infinity) == 0x7f80);
  CHECK(float_to_bfloat(-infinity) == 0xff80);
  CHECK(float_to_bfloat(std::numeric_limits<float>::max()) == 0x7f80);
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc12345u, 0x7f802000u}) {
    INFO(bits);
    CHECK(std::isnan(half_to_float(float_to_half(std::bit_cast<float>(bits)))));
    CHECK(std::isnan(bfloat_to_float(float_to_bfloat(std::bit_cast<float>(bits)))));
  }
}
