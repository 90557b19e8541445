// Parameters that are one of a few words.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace tend {

namespace detail {
/// What a parameter of the enumeration E is called, and the words for its values, in their order:
/// "reduction: none mean sum". It stands beside each enumeration that an OrWord takes.
template <class E>
inline constexpr std::string_view kWords{};

/// The place of a word among `words`; Error that lists them where it is none of these.
std::int64_t place_among(std::string_view words, std::string_view word);
}  // namespace detail

/// A parameter that takes a value of the enumeration E, or PyTorch's word for it:
/// mse_loss(x, y, Reduction::sum) is mse_loss(x, y, "sum").
template <class E>
class OrWord {
 public:
  constexpr OrWord(E value) noexcept : value_(value) {}
  /// Error, which lists the words, for one that E does not have.
  template <std::convertible_to<std::string_view> Word>
  OrWord(const Word& word) : value_(static_cast<E>(detail::place_among(detail::kWords<E>, word))) {}
  constexpr operator E() const noexcept { return value_; }

 private:
  E value_;
};

}  // namespace tend
