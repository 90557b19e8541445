// Parameter types that refuse C++'s implicit conversions.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tend {

namespace detail {
/// Throws the IndexError for an integer, given as digits, that int64 cannot represent.
[[noreturn]] void fail_integer(const std::string& digits);

/// True if int64 can represent every value of the integer type T.
template <std::integral T>
inline constexpr bool kFitsInt64 = sizeof(T) < sizeof(std::int64_t) ||
                                   (sizeof(T) == sizeof(std::int64_t) && T(-1) < T(0));

template <class T>
inline constexpr bool kIsIntegers = false;
template <class T>
inline constexpr bool kIsIntegers<std::vector<T>> = std::integral<T>;
template <class T, std::size_t N>
inline constexpr bool kIsIntegers<std::span<T, N>> = std::integral<T>;
template <class T, std::size_t N>
inline constexpr bool kIsIntegers<std::array<T, N>> = std::integral<T>;
template <class T>  // only for a named initializer_list: T is not deduced from braces
inline constexpr bool kIsIntegers<std::initializer_list<T>> = std::integral<T>;
/// A vector, span, array or list of integers.
template <class L>
concept Integers = kIsIntegers<L> && !std::same_as<std::remove_cv_t<typename L::value_type>, bool>;
/// Two or more integers as separate arguments, as in x.view(2, 3) instead of x.view({2, 3}).
template <class... T>
concept Sizes = sizeof...(T) > 1 && (std::integral<T> && ...) && (!std::same_as<T, bool> && ...);
}  // namespace detail

/// A parameter that accepts only a T, without conversions, and no empty braces.
///
/// So x.sum({}) is a sum over all dimensions, and not a sum with DType{} as its dtype.
template <class T>
class Exactly {
 public:
  template <std::same_as<T> U>
  constexpr Exactly(U value) noexcept : value_(value) {}
  constexpr operator T() const noexcept { return value_; }

 private:
  T value_;
};

/// A parameter that accepts only true or false.
///
/// So x.sum(0, 1), a sum over the dimensions 0 and 1, is not compiled as x.sum(0, keepdim = true).
using Flag = Exactly<bool>;

/// A size, dimension or position of any integer type, converted to int64.
///
/// An integer that int64 cannot represent is an error, since it would wrap around: SIZE_MAX would
/// mean -1.
///
/// Throws: IndexError - int64 cannot represent the integer
class Integer {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Integer(T value) noexcept(detail::kFitsInt64<T>)
      : value_(static_cast<std::int64_t>(value)) {
    if constexpr (!detail::kFitsInt64<T>) {
      if (value_ < 0 || static_cast<T>(value_) != value)
        detail::fail_integer(std::to_string(value));
    }
  }
  /// Accepts an enumerator, such as kBatch of `enum { kBatch = 4 }`.
  template <class E>
  requires(std::is_enum_v<E>&& std::is_convertible_v<E, std::int64_t>) constexpr Integer(
      E value) noexcept(noexcept(Integer(static_cast<std::underlying_type_t<E>>(value))))
      : Integer(static_cast<std::underlying_type_t<E>>(value)) {}
  constexpr operator std::int64_t() const noexcept { return value_; }

 private:
  std::int64_t value_;
};

}  // namespace tend
