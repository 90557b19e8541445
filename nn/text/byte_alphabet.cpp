#include <tend/nn/text/byte_alphabet.h>

#include <tend/nn/text/utf8.h>

namespace tend::nn {
namespace {

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

// The number of bytes that are represented by code points above 255.
constexpr unsigned kOthers = 68;

struct Alphabet {
  std::array<char32_t, 256> code_points{};
  std::array<unsigned char, kOthers> others{};  // the byte of U+0100 + i
  std::array<unsigned char, 256> in_order{};
};

constexpr Alphabet make_alphabet() {
  Alphabet out;
  unsigned themselves = 0, others = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (stands_for_itself(byte)) {
      out.code_points[byte] = byte;
      out.in_order[themselves++] = static_cast<unsigned char>(byte);
    } else {
      out.code_points[byte] = 256 + others;
      out.others[others] = static_cast<unsigned char>(byte);
      out.in_order[256 - kOthers + others++] = static_cast<unsigned char>(byte);
    }
  }
  return out;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

const std::array<unsigned char, 256>& bytes_in_order() noexcept {
  return kAlphabet.in_order;
}

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    utf8::append(text, kAlphabet.code_points[static_cast<unsigned char>(byte)]);
  return text;
}

std::optional<std::string> bytes_of_printable(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::size_t length = utf8::length_at(text);
    if (length == 0) return {};
    const char32_t number = utf8::code_point(text.substr(0, length));
    if (number < 256 && stands_for_itself(number)) {
      bytes += static_cast<char>(number);
    } else if (number >= 256 && number < 256 + kOthers) {
      bytes += static_cast<char>(kAlphabet.others[number - 256]);
    } else {
      return {};
    }
    text.remove_prefix(length);
  }
  return bytes;
}

}  // namespace tend::nn
