#include <tend/nn/text/utf8.h>

#include <cstring>

namespace tend::nn::utf8 {
namespace {

// The length of a code point, and the range of its second byte (Unicode, table 3-7). The third and
// fourth bytes are always 0x80 to 0xBF.
struct Second {
  std::size_t length;
  unsigned char low, high;
};

constexpr Second second_after(unsigned char first) noexcept {
  if (first < 0xC2 || first > 0xF4) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {4, 0x80, 0xBF};
}

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

std::size_t length_at(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const Second second = second_after(first);
  if (second.length == 0 || text.size() < second.length) return 0;
  if (byte_at(text, 1) < second.low || byte_at(text, 1) > second.high) return 0;
  for (std::size_t i = 2; i < second.length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  return second.length;
}

std::size_t valid_prefix(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & kHighBits) == 0) {  // all are ASCII
        at += sizeof eight;
        continue;
      }
    }
    const std::size_t length = length_at(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

char32_t code_point(std::string_view character) noexcept {
  constexpr unsigned char kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t number = byte_at(character, 0) & kFirstBits[character.size()];
  for (std::size_t i = 1; i < character.size(); ++i)
    number = number << 6 | (byte_at(character, i) & 0x3F);
  return number;
}

void append(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto follow = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    follow(6);
  } else {
    put(0xF0 | code_point >> 18);
    follow(12);
    follow(6);
  }
  follow(0);
}

bool is_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

}  // namespace tend::nn::utf8
