#include "examples/train/page/format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace train {

namespace {

constexpr std::string_view kReplacement = "\uFFFD";

/// Length of the valid UTF-8 sequence at the front of `bytes` (RFC 3629: no overlong forms, no
/// surrogates, up to U+10FFFF), or 0.
std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  const auto follows = [byte](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return follows(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool allowed = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return allowed && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool allowed = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
    return allowed && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string printable_ascii(char c) {
  if (c == '\x7f') return "\u2421";
  const bool is_control = c < ' ' && c != '\n' && c != '\t';
  // U+2400 + c is the picture of the control character c.
  return is_control ? std::string{'\xe2', '\x90', static_cast<char>('\x80' + c)} : std::string{c};
}

bool is_c1_control(std::string_view sequence) {
  return sequence.size() == 2 && sequence[0] == '\xc2' &&
         static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

std::string fixed(double value, int digits) {
  std::array<char, 512> buffer{};  // the largest double has 309 digits before the point
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::fixed, digits);
  return error == std::errc() ? std::string(buffer.data(), end) : "?";
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return error == std::errc() ? std::string(buffer.data(), end) : "?";
}

std::string significant(double value, int digits) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::general, digits);
  return error == std::errc() ? std::string(buffer.data(), end) : "?";
}

std::string grouped(double value) {
  std::string digits = fixed(value, 0);
  if (!std::isfinite(value)) {
    return digits;
  }
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) {
    digits.insert(i - 3, "\u202F");
  }
  return digits;
}

std::string duration(double seconds) {
  if (!(seconds < 1e9)) {
    return "?";
  }
  if (seconds < 59.95) {
    return fixed(seconds, 1) + " s";
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + two(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + two(whole / 60 % 60) + " min";
}

std::string percent(double share) {
  // Rounded down: 100 % is only said of all.
  const double hundredths = std::floor(share * 10000.0 + 1e-9);
  std::string digits = fixed(hundredths / 100.0, 2);
  while (digits.find('.') != std::string::npos && (digits.back() == '0' || digits.back() == '.')) {
    const bool point = digits.back() == '.';
    digits.pop_back();
    if (point) {
      break;
    }
  }
  return digits + " %";
}

std::string printable(std::string_view bytes) {
  std::string safe;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view sequence = bytes.substr(0, length);
    if (length == 1) {
      safe += printable_ascii(bytes.front());
    } else {
      safe += length == 0 || is_c1_control(sequence) ? kReplacement : sequence;
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::string escape_html(std::string_view bytes) {
  std::string safe;
  for (const char c : printable(bytes)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

}  // namespace train
