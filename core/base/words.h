// Parameters that accept one of a few words.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace tend {

namespace detail {
/// The name of a parameter of the enumeration E, and the words for E's values in their order:
/// "reduction: none mean sum". The header that declares an enumeration also specialises kWords.
template <class E>
inline constexpr std::string_view kWords{};

/// The position of `word` in the list `words`, which has the form of kWords.
///
/// Throws: Error - `word` is not in the list; the message lists the words
std::int64_t index_of_word(std::string_view words, std::string_view word);
}  // namespace detail

/// A parameter that accepts a value of the enumeration E, or PyTorch's word for it.
///
/// mse_loss(x, y, Reduction::sum) and mse_loss(x, y, "sum") are the same call.
template <class E>
class OrWord {
 public:
  constexpr OrWord(E value) noexcept : value_(value) {}
  /// Converts PyTorch's word to the value.
  ///
  /// Throws: Error - E has no such word; the message lists E's words
  template <std::convertible_to<std::string_view> Word>
  OrWord(const Word& word)
      : value_(static_cast<E>(detail::index_of_word(detail::kWords<E>, word))) {}
  constexpr operator E() const noexcept { return value_; }

 private:
  E value_;
};

}  // namespace tend
