#include <tend/nn/data/number_text.h>

#include <atomic>
#include <cctype>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

namespace tend::data {
namespace {

// The decimal point of "C", whatever the program's locale.
::locale_t plain_locale() {
  static const ::locale_t locale = newlocale(LC_ALL_MASK, "C", static_cast<::locale_t>(nullptr));
  return locale;
}

float read(const char* text, char** stop, float) {
  return strtof_l(text, stop, plain_locale());
}
double read(const char* text, char** stop, double) {
  return strtod_l(text, stop, plain_locale());
}

}  // namespace

template <class T>
std::from_chars_result number_by_strtod(const char* begin, const char* end, T& value) {
  const std::string text(begin, end);
  // What strtod takes and from_chars does not: spaces and a plus before the number, hexadecimal
  // digits.
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t hexadecimal = text.find_first_of("xX");
  const bool starts =
      first < text.size() &&
      (std::isalnum(static_cast<unsigned char>(text[first])) != 0 || text[first] == '.');
  if (!starts) return {begin, std::errc::invalid_argument};
  const std::string decimal = text.substr(0, hexadecimal);
  char* stop = nullptr;
  const T number = read(decimal.c_str(), &stop, T());
  if (stop == decimal.c_str()) return {begin, std::errc::invalid_argument};
  const char* const last = begin + (stop - decimal.c_str());
  // Not by errno, which is ERANGE for subnormal numbers, too.
  const bool is_word = std::isalpha(static_cast<unsigned char>(text[first])) != 0;
  const bool has_digits = decimal.find_first_of("123456789") < decimal.find_first_of("eE");
  if (!is_word && (std::isinf(number) || (number == 0 && has_digits)))
    return {last, std::errc::result_out_of_range};
  value = number;
  return {last, std::errc()};
}

template std::from_chars_result number_by_strtod(const char*, const char*, float&);
template std::from_chars_result number_by_strtod(const char*, const char*, double&);

}  // namespace tend::data
