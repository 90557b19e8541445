#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace train {

// Numbers and text for people. The results do not depend on the locale.

/// `value` with `digits` digits after the point, or "nan", "inf" or "-inf".
std::string fixed(double value, int digits);

/// The shortest digits that read back as the same double.
std::string shortest(double value);

/// A whole number with thin spaces between thousands: "1 234 567".
std::string grouped(double value);
inline std::string grouped(std::uint64_t value) {
  return grouped(static_cast<double>(value));
}

/// "7.3 s", "2 min 05 s" or "1 h 02 min".
std::string duration(double seconds);

/// A share in percent, never rounded up to 100: "99.95 %".
std::string percent(double share);

/// The text for a terminal. Control characters become visible symbols, except line ends and tabs.
std::string printable(std::string_view text);

}  // namespace train
