// Reads and writes UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tend::nn::utf8 {

/// Returns the number of bytes of the first code point in `text`; 0 if the text does not begin with
/// a valid one.
///
/// Lone continuation bytes, forms that are cut off or longer than needed, surrogates, and numbers
/// above 0x10FFFF are not valid.
std::size_t length_at(std::string_view text) noexcept;

/// Returns the number of bytes at the beginning of `text` that are valid UTF-8.
std::size_t valid_prefix(std::string_view text) noexcept;

/// Returns the number of a code point. `character` has exactly one, which is valid.
char32_t code_point(std::string_view character) noexcept;

/// Adds a code point to `text`.
void append(std::string& text, char32_t code_point);

/// True for White_Space of the Unicode Character Database, and for U+001C to U+001F, as in Python's
/// str.isspace.
bool is_space(char32_t code_point) noexcept;

}  // namespace tend::nn::utf8
