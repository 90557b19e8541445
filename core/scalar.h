// A number from the user's code, which does not raise a tensor's dtype within its category.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tend/core/dtype.h>

namespace tend {

/// `value` as a To. Like a C++ cast, but defined everywhere: to bool it asks for "not zero", and a
/// float that int64 cannot hold (NaN too) gives the smallest int64, as x86 answers and PyTorch
/// shows there.
template <class To, class From>
constexpr To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr From kLimit = From(9223372036854775808.0);  // 2^63
    return value >= -kLimit && value < kLimit ? static_cast<To>(value)
                                              : std::numeric_limits<To>::min();
  } else {
    return static_cast<To>(value);
  }
}

/// A bool, integer or floating number. `x * 2.5` with an int64 x gives float32; with a float32 x it
/// stays float32.
class Scalar {
 public:
  template <std::floating_point T>
  constexpr Scalar(T value) noexcept : dtype_(float64), floating_(static_cast<double>(value)) {}
  template <std::integral T>
  constexpr Scalar(T value) noexcept
      : dtype_(std::same_as<T, bool> ? boolean : int64),
        integer_(static_cast<std::int64_t>(value)) {}

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
