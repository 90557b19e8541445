// Errors of kernels in units in the last place (ulp), and sample numbers to measure them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tend/core/array/array.h>

namespace tend::test {

/// Every step-th bit pattern of float32. These are numbers of all sizes and both signs, and some
/// NaN.
inline Array sampled_floats(std::uint64_t step) {
  Array out = Array::empty({(std::int64_t{1} << 32) / static_cast<std::int64_t>(step)}, float32);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const auto bits = static_cast<std::uint32_t>(step * static_cast<std::uint64_t>(i));
    std::memcpy(out.data<float>() + i, &bits, sizeof bits);
  }
  return out;
}

/// float64 numbers of all sizes and both signs, and some NaN. Half of them have a magnitude between
/// 2^-12 and 2^12, which is the usual range of arguments.
inline Array sampled_doubles(std::int64_t count) {
  Array out = Array::empty({count}, float64);
  std::mt19937_64 generator(5);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t bits = generator();
    if (i % 2 == 0) {
      const std::uint64_t exponent = 1023 - 12 + bits % 24;
      bits = (bits & 0x800fffffffffffffu) | exponent << 52;
    }
    std::memcpy(out.data<double>() + i, &bits, sizeof bits);
  }
  return out;
}

/// The unit in the last place of x as a T. For 0, infinity and NaN it is the smallest unit.
template <class T>
long double ulp_of(long double x) {
  using Limits = std::numeric_limits<T>;
  const bool has_exponent = x != 0 && std::isfinite(x);
  const int exponent = has_exponent ? std::ilogb(x) + 1 : Limits::min_exponent;
  return std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
}

/// True if two lists have the same numbers. Zeros must have the same sign. All NaN are equal.
template <class T = double>
bool identical(const std::vector<T>& got, const std::vector<T>& expected) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same =
        std::isnan(expected[i])
            ? std::isnan(got[i])
            : got[i] == expected[i] && std::signbit(got[i]) == std::signbit(expected[i]);
    if (!same) return false;
  }
  return true;
}

}  // namespace tend::test
