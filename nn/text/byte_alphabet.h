// GPT-2's way to write bytes as printable text, as its files do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tend::nn {

/// The bytes in the order of the code points that stand for them: those that are printable in
/// Latin-1 stand for themselves ('!' to '~', 0xA1 to 0xAC, 0xAE to 0xFF), and the others, in their
/// order, are U+0100, U+0101, ... Ids of a trained vocabulary begin with them.
const std::array<unsigned char, 256>& bytes_in_order() noexcept;

/// "\xC4\xA0the" (U+0120, t, h, e) of " the".
std::string printable(std::string_view bytes);

/// The bytes that a printable text stands for; nothing when it holds another character.
std::optional<std::string> bytes_of_printable(std::string_view text);

}  // namespace tend::nn
