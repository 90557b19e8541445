// std::from_chars of floating numbers, which libc++ does not have before its version 20.
#pragma once

#include <charconv>
#include <type_traits>

namespace tend::data {

/// As std::from_chars(begin, end, value), T being float or double, by the C library's strtod, which
/// copies the text. Without memory it throws std::bad_alloc.
template <class T>
std::from_chars_result number_by_strtod(const char* begin, const char* end, T& value);

/// std::from_chars(begin, end, value), of any type of numbers.
template <class T>
std::from_chars_result number_from_text(const char* begin, const char* end, T& value) {
#ifndef __cpp_lib_to_chars
  if constexpr (std::is_floating_point_v<T>)
    return number_by_strtod(begin, end, value);
  else
#endif
    return std::from_chars(begin, end, value);
}

}  // namespace tend::data
