// The element types, and PyTorch's rules for mixing them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include <tend/core/base/error.h>

namespace tend {

enum class DType : std::uint8_t { boolean, int64, float32, float64 };

inline constexpr DType boolean = DType::boolean;
inline constexpr DType int64 = DType::int64;
inline constexpr DType float32 = DType::float32;
inline constexpr DType float64 = DType::float64;

/// The number of bytes of one element: 1 for bool, 4 for float32, 8 for int64 and float64.
constexpr std::int64_t item_size(DType dtype) noexcept {
  switch (dtype) {
    case DType::boolean: return 1;
    case DType::float32: return 4;
    case DType::int64:
    case DType::float64: return 8;
  }
  return 0;
}

constexpr bool is_floating(DType dtype) noexcept {
  return dtype == DType::float32 || dtype == DType::float64;
}

/// PyTorch's name: "bool", "int64", "float32", "float64".
std::string_view dtype_name(DType dtype) noexcept;
std::ostream& operator<<(std::ostream& out, DType dtype);

/// The larger of two dtypes, in the order bool < int64 < float32 < float64.
constexpr DType promote_types(DType a, DType b) noexcept {
  return a < b ? b : a;
}

/// PyTorch's category of a dtype: 0 for bool, 1 for int64, 2 for float32 and float64.
constexpr int dtype_category(DType dtype) noexcept {
  return is_floating(dtype) ? 2 : dtype == int64 ? 1 : 0;
}

/// float32 for int64 and bool, otherwise the dtype itself. PyTorch's true division and
/// transcendental functions convert in this way.
constexpr DType to_floating(DType dtype) noexcept {
  return is_floating(dtype) ? dtype : float32;
}

/// The DType of a C++ element type: bool, int64_t, float or double.
template <class T>
constexpr DType dtype_of() noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::boolean;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return DType::int64;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::float32;
  } else {
    static_assert(std::is_same_v<T, double>, "tend has bool, int64_t, float and double elements");
    return DType::float64;
  }
}

/// A type passed as a value, so that generic lambdas can be called per dtype.
template <class T>
struct TypeTag {
  using type = T;
};

/// Calls f(TypeTag<T>{}) with the element type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(TypeTag<bool>{});
    case DType::int64: return f(TypeTag<std::int64_t>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: break;
  }
  return f(TypeTag<double>{});
}

/// As visit_dtype, but not for bool.
///
/// Throws: DTypeError - `dtype` is bool; the message names `operation`
template <class F>
decltype(auto) visit_number(std::string_view operation, DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean:
      fail<DTypeError>(operation, "needs int64, float32 or float64, got ", dtype_name(dtype));
    case DType::int64: return f(TypeTag<std::int64_t>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: break;
  }
  return f(TypeTag<double>{});
}

/// As visit_dtype, but only for float32 and float64.
///
/// Throws: DTypeError - `dtype` is bool or int64; the message names `operation`
template <class F>
decltype(auto) visit_floating(std::string_view operation, DType dtype, F&& f) {
  if (!is_floating(dtype)) {
    fail<DTypeError>(operation, "needs float32 or float64, got ", dtype_name(dtype));
  }
  if (dtype == DType::float32) return f(TypeTag<float>{});
  return f(TypeTag<double>{});
}

}  // namespace tend
