#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include <tend/nn/data/number_text.h>

#include "tests/catch.h"

namespace {

// Compares with std::from_chars: value, bit for bit, error, and where it stops.
template <class T>
void check_text(const std::string& text) {
  INFO('"' << text << '"');
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  T found = T(7), expected = T(7);
  const auto by_strtod = tend::data::number_by_strtod(begin, end, found);
  const auto standard = std::from_chars(begin, end, expected);
  CHECK(by_strtod.ec == standard.ec);
  CHECK(by_strtod.ptr - begin == standard.ptr - begin);
  // The digits in nan(12) may go anywhere.
  const bool are_nan = std::isnan(found) && std::isnan(expected);
  CHECK((are_nan || std::memcmp(&found, &expected, sizeof(T)) == 0));
}

}  // namespace

TEST_CASE("strtod reads numbers as from_chars does, where a library has none for them") {
  // clang-format off
  const char* const texts[] = {
      "0", "-0", "1", "-1.5", "3.14159265358979323846", ".5", "-.5", "5.", "1e3", "1E+3", "1e-3",
      "0e5", "0.0e-999", "1e", "1e+", "1x", "0x10", "-0x1p3", "1,5", "1 2", "inf", "-inf",
      "INFINITY", "infinit", "nan", "-nan", "nan(12)", "", "-", "+1", "--1", "-+1", " 1", "\t1",
      ".", "-.", "e5", "abc", "1e400", "-1e400", "1e-400", "1e39", "1e-50", "1e-45", "4.9e-324",
      "2.4703282292062328e-324", "3.4028235e38", "3.4028236e38", "1.7976931348623159e308"};
  // clang-format on
  for (const char* text : texts) {
    check_text<float>(text);
    check_text<double>(text);
  }
}
