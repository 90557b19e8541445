#include <tend/nn/text/utf8.h>

#include "tests/catch.h"

namespace utf8 = tend::nn::utf8;

TEST_CASE("every code point is one in UTF-8, and nothing else is") {
  for (char32_t number = 0; number < 0x110000; ++number) {
    std::string text;
    utf8::append(text, number);
    const bool is_surrogate = number >= 0xD800 && number < 0xE000;
    const std::size_t length = is_surrogate ? 0 : text.size();
    if (utf8::length_at(text) != length || utf8::valid_prefix("12345678" + text) != 8 + length ||
        (!is_surrogate && utf8::code_point(text) != number)) {
      FAIL("U+" << std::hex << static_cast<unsigned>(number));
    }
    // Cut off, or with a byte that does not go on.
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
