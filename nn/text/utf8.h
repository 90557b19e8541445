// UTF-8, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tend::nn::utf8 {

/// Bytes of the code point that `text` begins with; 0 where its first bytes are none: continuation
/// bytes alone, forms that are cut off or longer than needed, surrogates, numbers above 0x10FFFF.
std::size_t length_at(std::string_view text) noexcept;

/// Bytes at the beginning of `text` that are whole code points.
std::size_t valid_prefix(std::string_view text) noexcept;

/// The number of the code point that `character`, which is one, holds.
char32_t code_point(std::string_view character) noexcept;

/// Adds a code point to `text`.
void append(std::string& text, char32_t code_point);

/// White_Space of the Unicode Character Database, and U+001C to U+001F as in Python's str.isspace.
bool is_space(char32_t code_point) noexcept;

}  // namespace tend::nn::utf8
