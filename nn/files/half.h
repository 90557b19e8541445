// Conversion of 16-bit floats, for reading and writing weights.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tend::nn {

/// The value of an IEEE 754 binary16.
inline float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// The value of a bfloat16: the upper half of a float.
inline float bfloat_to_float(std::uint16_t half) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

/// bits / 2^shift, rounded to the nearest integer; a tie is rounded to the even one.
inline std::uint32_t shifted_to_even(std::uint32_t bits, unsigned shift) noexcept {
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1u)) >> shift;
}

/// The nearest binary16; a tie is rounded to the even one. Numbers from 65520 on become infinity.
inline std::uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  constexpr std::uint32_t kInfinity = 0x7c00u;
  std::uint32_t half = 0;
  if (size > 0x7f800000u) {
    half = kInfinity | 0x200u | (size >> 13 & 0x3ffu);  // a quiet NaN
  } else if (size >= 0x477ff000u) {                     // 65520
    half = kInfinity;
  } else if (size >= 0x38800000u) {  // 2^-14: normal; rounding up may carry into the exponent
    half = shifted_to_even(size - (112u << 23), 13);
  } else if (size >= 0x33000000u) {  // 2^-25, half of the smallest number: a tie, rounded to zero
    half = shifted_to_even((size & 0x7fffffu) | 0x800000u, 126u - (size >> 23));
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// The nearest bfloat16; a tie is rounded to the even one.
inline std::uint16_t float_to_bfloat(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // a quiet NaN
  }
  return static_cast<std::uint16_t>(shifted_to_even(bits, 16));
}

}  // namespace tend::nn
