#include <tend/nn/text/utf8.h>

#include <set>

#include "tests/catch.h"

namespace utf8 = tend::nn::utf8;

TEST_CASE("only code points are valid in UTF-8") {
  for (char32_t number = 0; number < 0x110000; ++number) {
    std::string text;
    utf8::append(text, number);
    const bool is_surrogate = number >= 0xD800 && number < 0xE000;
    const std::size_t length = is_surrogate ? 0 : text.size();
    if (utf8::length_at(text) != length || utf8::valid_prefix("12345678" + text) != 8 + length ||
        (!is_surrogate && utf8::code_point(text) != number)) {
      FAIL("U+" << std::hex << static_cast<unsigned>(number));
    }
    // Cut off, or followed by a byte that does not continue the code point.
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      if (utf8::length_at(text.substr(0, cut)) != 0 ||
          utf8::length_at(text.substr(0, cut) + "a") != 0) {
        FAIL("cut U+" << std::hex << static_cast<unsigned>(number));
      }
    }
  }
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", ""}) {
    CHECK(utf8::length_at(text) == 0);
  }
}

// The code points for which Python's str.isspace() is true.
TEST_CASE("spaces are the same as in Python") {
  const std::set<char32_t> spaces = {0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,
                                     0x1F,   0x20,   0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002,
                                     0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A,
                                     0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  for (char32_t number = 0; number < 0x110000; ++number) {
    if (utf8::is_space(number) != spaces.contains(number))
      FAIL("U+" << std::hex << static_cast<unsigned>(number));
  }
}
