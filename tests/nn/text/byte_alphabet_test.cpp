#include <tend/nn/text/byte_alphabet.h>

#include <algorithm>

#include "tests/catch.h"

using tend::nn::bytes_in_order;
using tend::nn::bytes_of_printable;
using tend::nn::printable;

TEST_CASE("every byte has a printable character and is recovered from it") {
  std::string all;
  for (const unsigned char byte : bytes_in_order()) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(bytes_of_printable(printable(one)) == one);
    all += one;
  }
  CHECK(bytes_of_printable(printable(all)) == all);
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  CHECK(printable(" a\n\x7F\xA0\xAD\xFF") ==
        "\xC4\xA0"
        "a\xC4\x8A\xC4\xA1\xC5\x82\xC5\x83\xC3\xBF");
  for (const char* other : {" ", "\n", "\xC2\xA0", "\xC2\xAD", "\xC5\x84", "\xFF", "a\xC3"})
    CHECK(!bytes_of_printable(other));
}
