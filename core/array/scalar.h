// A number in the user's code, such as 2.5 in x * 2.5. It can change the dtype of a result only to
// a higher category (bool < integer < floating) than the tensor's.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tend/core/array/dtype.h>
#include <tend/core/base/strict.h>

namespace tend {

namespace detail {
/// 2^bits. The floating type T must be able to represent this number.
template <class T>
constexpr T power_of_two(int bits) noexcept {
  T power = 1;
  for (; bits > 0; --bits) power *= 2;
  return power;
}
}  // namespace detail

/// Converts `value` to the type To, like a C++ cast, but with a defined result for every value.
///
/// To bool, the result is true unless `value` is zero. A floating number that an integer type
/// cannot represent, or NaN, gives the smallest integer, as in PyTorch on x86.
template <class To, class From>
constexpr To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr To kMin = std::numeric_limits<To>::min();
    constexpr From kEnd = detail::power_of_two<From>(std::numeric_limits<To>::digits);
    return value >= static_cast<From>(kMin) && value < kEnd ? static_cast<To>(value) : kMin;
  } else {
    return static_cast<To>(value);
  }
}

/// True if the type To can represent `value`.
///
/// An integer type must represent the value's whole part; NaN has no whole part. A floating type
/// may round the value, but a finite value must not exceed the type's largest number. bool can
/// represent every value: zero as false, and any other value as true.
template <class To, class From>
bool holds(From value) noexcept {
  if constexpr (std::is_same_v<To, bool> || std::is_same_v<To, From>) {
    return true;
  } else if constexpr (std::is_floating_point_v<To>) {
    if constexpr (sizeof(To) >= sizeof(From) || std::is_integral_v<From>) {
      return true;
    } else {
      constexpr From kMax = std::numeric_limits<To>::max();
      return !std::isfinite(value) || (value >= -kMax && value <= kMax);
    }
  } else if constexpr (std::is_floating_point_v<From>) {
    const From whole = std::trunc(value);
    return whole >= static_cast<From>(std::numeric_limits<To>::min()) &&
           whole < detail::power_of_two<From>(std::numeric_limits<To>::digits);
  } else {
    const To narrow = static_cast<To>(value);
    return static_cast<From>(narrow) == value && (narrow < To(0)) == (value < From(0));
  }
}

/// A bool, an integer or a floating number. `x * 2.5` is float32 if x is int64 or float32.
///
/// Throws: IndexError - int64 cannot represent the integer
class Scalar {
 public:
  template <std::floating_point T>
  constexpr Scalar(T value) noexcept : dtype_(float64), floating_(static_cast<double>(value)) {}
  constexpr Scalar(std::same_as<bool> auto value) noexcept : dtype_(boolean), integer_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Scalar(T value) noexcept(detail::kFitsInt64<T>)
      : dtype_(int64), integer_(Integer(value)) {}

  constexpr DType dtype() const noexcept { return dtype_; }

  template <class T>
  constexpr T to() const noexcept {
    return dtype_ == float64 ? convert<T>(floating_) : convert<T>(integer_);
  }

 private:
  DType dtype_;
  union {
    double floating_;
    std::int64_t integer_;
  };
};

/// The dtype of an operation between elements of `dtype` and a number (PyTorch: torch.result_type).
constexpr DType promote_types(DType dtype, const Scalar& number) noexcept {
  if (number.dtype() == float64) return to_floating(dtype);
  return promote_types(dtype, number.dtype());
}

}  // namespace tend
