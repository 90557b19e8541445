// Errors of kernels in units of the last place, and the numbers to measure them at.
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

/// Every step-th bit pattern of float32: numbers of all sizes and both signs, some NaN.
inline Array sampled_floats(std::uint64_t step) {
  Array out = Array::empty({(std::int64_t{1} << 32) / static_cast<std::int64_t>(step)}, float32);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const auto bits = static_cast<std::uint32_t>(step * static_cast<std::uint64_t>(i));
    std::memcpy(out.data<float>() + i, &bits, sizeof bits);
  }
  return out;
}

/// Numbers of all sizes of float64 and both signs, some NaN; half of them, which are most of what
/// functions see, between 2^-12 and 2^12.
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

/// The unit in the last place of x as a T; the smallest one for 0, infinity and NaN.
template <class T>
long double ulp_of(long double x) {
  using Limits = std::numeric_limits<T>;
  const bool has_exponent = x != 0 && std::isfinite(x);
  const int exponent = has_exponent ? std::ilogb(x) + 1 : Limits::min_exponent;
  return std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
}

/// Whether two lists have the same numbers, the signs of zeros included; a NaN is as good as
/// another.
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
