#include "examples/train/page/format.h"

#include <array>
#include <charconv>
#include <cmath>

namespace train {

namespace {

template <class... Format>
std::string converted(double value, Format... format) {
  std::array<char, 512> buffer{};  // the largest double has 309 digits before the point
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...);
  return {buffer.data(), end};
}

std::string two_digits(std::int64_t n) {
  return (n < 10 ? "0" : "") + std::to_string(n);
}

}  // namespace

std::string fixed(double value, int digits) {
  return converted(value, std::chars_format::fixed, digits);
}

std::string shortest(double value) {
  return converted(value);
}

std::string grouped(double value) {
  std::string digits = fixed(value, 0);
  if (!std::isfinite(value)) return digits;
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, "\u202F");
  return digits;
}

std::string duration(double seconds) {
  if (seconds < 59.95) return fixed(seconds, 1) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two_digits(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + two_digits(whole / 60 % 60) + " min";
}

std::string percent(double share) {
  // Rounded down, so that only a share of 1 is 100 %.
  const double hundredths = std::floor(share * 10000.0 + 1e-9);
  return shortest(hundredths / 100.0) + " %";
}

std::string printable(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool is_control = (c >= 0 && c < ' ' && c != '\n' && c != '\t');
    // U+2400 + c is the symbol for the control character c.
    safe +=
        is_control ? std::string{'\xe2', '\x90', static_cast<char>('\x80' + c)} : std::string(1, c);
  }
  return safe;
}

}  // namespace train
