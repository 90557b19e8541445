#pragma once

/// Numbers that many tests use.

#include <limits>

namespace tend::test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace tend::test
