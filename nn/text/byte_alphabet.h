// GPT-2's alphabet, in which its files write bytes as printable text.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tend::nn {

/// Returns all bytes in the order of the code points that represent them.
///
/// Bytes that are printable in Latin-1 ('!' to '~', 0xA1 to 0xAC, 0xAE to 0xFF) represent
/// themselves. U+0100, U+0101, ... represent the other bytes, in ascending order. The first 256 ids
/// of a trained vocabulary are the bytes in this order.
const std::array<unsigned char, 256>& bytes_in_order() noexcept;

/// Writes bytes as printable text. " the" becomes "\xC4\xA0the": U+0120, t, h, e.
std::string printable(std::string_view bytes);

/// Returns the bytes that a printable text represents. Empty if the text has a character that
/// represents no byte.
std::optional<std::string> bytes_of_printable(std::string_view text);

}  // namespace tend::nn
