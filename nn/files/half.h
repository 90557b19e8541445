// 16-bit floats, as far as reading weights needs them.
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

}  // namespace tend::nn
