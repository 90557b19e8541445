// Parameters that refuse what C++ would convert for them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace tend {

namespace detail {
/// IndexError: int64 cannot hold the integer with these digits.
[[noreturn]] void fail_integer(const std::string& digits);

/// Whether int64 holds every value of the integer type T.
template <std::integral T>
inline constexpr bool kFitsInt64 = sizeof(T) < sizeof(std::int64_t) ||
                                   (sizeof(T) == sizeof(std::int64_t) && T(-1) < T(0));
}  // namespace detail

/// A parameter that is true or false. It takes a bool and nothing else, so that x.sum(0, 1), which
/// means the dimensions 0 and 1, is not compiled as x.sum(0, keepdim = true).
class Flag {
 public:
  template <std::same_as<bool> T>
  constexpr Flag(T value) noexcept : value_(value) {}
  constexpr operator bool() const noexcept { return value_; }

 private:
  bool value_;
};

/// A size, dimension or position of any integer type. IndexError for one that int64 cannot hold and
/// that would otherwise wrap around: SIZE_MAX would mean -1.
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
  constexpr operator std::int64_t() const noexcept { return value_; }

 private:
  std::int64_t value_;
};

}  // namespace tend

#pragma GCC visibility pop
