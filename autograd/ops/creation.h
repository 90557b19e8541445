/// \file
/// Functions that create tensors, which have no history and pass on no gradient. ShapeError for a
/// negative size, OutOfMemoryError for what does not fit in memory.
/// TensorOptions make a leaf that requires grad: zeros({2}, {.requires_grad = true}); DTypeError
/// where its dtype is not floating.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tend/autograd/ops/random.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/autograd/tensor/tensor_options.h>
#include <tend/core/array/array.h>
#include <tend/core/base/error.h>

namespace tend {

namespace detail {
/// Numbers, and vectors of them, and vectors of those, ...
template <class T>
inline constexpr bool kIsNested = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool kIsNested<std::vector<T>> = kIsNested<T>;
}  // namespace detail

/// Nested braces or vectors of numbers: 1.0, {1, 2}, {{1, 2}, {3, 4}}, ... Rows of one level must
/// have the same length (ShapeError).
class NestedNumbers {
 public:
  template <class T>
  requires std::floating_point<T> || std::integral<T> NestedNumbers(T value)
      : dtype_(Scalar(value).dtype()), values_{Scalar(value)} {}
  NestedNumbers(std::initializer_list<NestedNumbers> rows);
  template <class T>
  requires detail::kIsNested<T> NestedNumbers(const std::vector<T>& rows) : shape_{rows.size()} {
    if (rows.empty()) return;
    dtype_ = boolean;
    for (auto&& row : rows) add(NestedNumbers(static_cast<const T&>(row)));
  }

  /// bool if every number is bool, int64 if all are bools and integers, otherwise float32, also
  /// without numbers.
  DType dtype() const noexcept { return dtype_ == float64 ? float32 : dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::vector<Scalar>& values() const noexcept { return values_; }

 private:
  // Appends a row; the first of `shape_`, its number of rows, is there already.
  void add(const NestedNumbers& row);

  DType dtype_ = float64;
  Shape shape_;
  std::size_t rows_ = 0;  // that were appended
  std::vector<Scalar> values_;
};

///@{
/// tensor({{0.43, 0.15}, {0.55, 0.87}}), or of vectors in a vector: as torch.tensor. The dtype is
/// that of the numbers, float32 for floating ones, unless `dtype` is given. ShapeError for rows of
/// different shapes, IndexError for an integer, DTypeError for a floating number that int64 cannot
/// hold. No gradient.
Tensor tensor(const NestedNumbers& numbers);
Tensor tensor(const NestedNumbers& numbers, Exactly<DType> dtype);
Tensor tensor(const NestedNumbers& numbers, const TensorOptions& options);
///@}

namespace detail {
template <class L>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::span<T, N>> = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
inline constexpr bool kIsArray<T[N]> = std::is_arithmetic_v<T> && !std::same_as<T, char>;

template <class L>
auto vector_of(const L& values) {
  using Number = std::remove_cvref_t<decltype(*std::begin(values))>;
  return std::vector<Number>(std::begin(values), std::end(values));
}

///@{
/// For tensor(): the numbers, converted to the dtype of the options, or `usual`. No gradient.
Tensor tensor_of(std::span<const std::int64_t> values, const Shape& shape, DType usual,
                 const TensorOptions& options);
Tensor tensor_of(std::span<const double> values, const Shape& shape, DType usual,
                 const TensorOptions& options);
///@}
}  // namespace detail

///@{
/// The numbers of a vector, row-major in `shape`, or in one dimension. The dtype is that of the
/// numbers, float32 for floating ones, unless it is given, as torch::tensor has it. ShapeError for
/// another count than the shape has, DTypeError for a number that the dtype cannot hold. No
/// gradient.
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  const Shape& shape,
                                                                  const TensorOptions& options) {
  using Number = std::conditional_t<std::floating_point<T>, double, std::int64_t>;
  std::vector<Number> numbers;
  numbers.reserve(values.size());
  for (const T value : values) {
    if constexpr (std::same_as<T, bool> || std::floating_point<T>) {
      numbers.push_back(static_cast<Number>(value));
    } else {
      numbers.push_back(Integer(value));
    }
  }
  const DType own = std::floating_point<T> ? float32 : std::same_as<T, bool> ? boolean : int64;
  return detail::tensor_of(numbers, shape, own, options);
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(
    const std::vector<T>& values, const Shape& shape, std::optional<DType> dtype = std::nullopt) {
  return tensor(values, shape, TensorOptions{.dtype = dtype});
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  const TensorOptions& options) {
  return tensor(values, Shape{values.size()}, options);
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values) {
  return tensor(values, TensorOptions{});
}
template <class T, std::same_as<DType> D>  // D, so that braces are a shape or options
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  D dtype) {
  return tensor(values, TensorOptions{.dtype = dtype});
}
///@}

///@{
/// The same for a std::array, a std::span and an array of C: tensor(values, {2, 3}).
template <class L>
requires detail::kIsArray<L> Tensor tensor(const L& values) {
  return tensor(detail::vector_of(values));
}
template <class L>
requires detail::kIsArray<L> Tensor tensor(const L& values, const Shape& shape,
                                           std::optional<DType> dtype = std::nullopt) {
  return tensor(detail::vector_of(values), shape, dtype);
}
template <class L, std::same_as<DType> D>
requires detail::kIsArray<L> Tensor tensor(const L& values, D dtype) {
  return tensor(detail::vector_of(values), dtype);
}
///@}

///@{
/// Uninitialised elements, false for bool; ShapeError for a negative size. No gradient.
Tensor empty(const Shape& shape, Exactly<DType> dtype = float32);
Tensor empty(const Shape& shape, const TensorOptions& options);
///@}
///@{
/// `value` everywhere. Without `dtype`, that of the value: bool, int64, or float32 for floating
/// numbers. ShapeError for a negative size, DTypeError for a number that the dtype cannot hold. No
/// gradient.
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt);
Tensor full(const Shape& shape, const Scalar& value, const TensorOptions& options);
///@}
///@{
/// 0 everywhere; ShapeError for a negative size. No gradient.
Tensor zeros(const Shape& shape, Exactly<DType> dtype = float32);
Tensor zeros(const Shape& shape, const TensorOptions& options);
///@}
///@{
/// 1 everywhere; ShapeError for a negative size. No gradient.
Tensor ones(const Shape& shape, Exactly<DType> dtype = float32);
Tensor ones(const Shape& shape, const TensorOptions& options);
///@}

///@{
/// The same with sizes one by one: zeros(2, 3). No gradient.
template <class... T>
requires detail::Sizes<T...> Tensor empty(T... sizes) {
  return empty({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor zeros(T... sizes) {
  return zeros({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor ones(T... sizes) {
  return ones({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor rand(T... sizes) {
  return rand({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor randn(T... sizes) {
  return randn({Integer(sizes)...});
}
///@}

///@{
/// full in the shape of `like`, and in its dtype unless another is given, with the errors of full.
/// No gradient.
Tensor full_like(const Tensor& like, const Scalar& value,
                 std::optional<DType> dtype = std::nullopt);
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options);
///@}
///@{
/// zeros in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor zeros_like(const Tensor& like, const TensorOptions& options);
///@}
///@{
/// ones in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& like, const TensorOptions& options);
///@}

///@{
/// empty in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor empty_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor empty_like(const Tensor& like, const TensorOptions& options);
///@}

///@{
/// start, start + step, ... up to `end`, which is excluded: int64 if all numbers are integers, else
/// float32, unless a dtype is given. DTypeError for bool, and for a number that int64 cannot hold.
/// Error for a step of 0, or one that leads away from end. No gradient.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt);
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options);
Tensor arange(const Scalar& start, const Scalar& end, Exactly<DType> dtype);
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options);
///@}
///@{
/// 0, 1, ... up to `end`, which is excluded: as above, from 0 in steps of 1. No gradient.
Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt);
Tensor arange(const Scalar& end, const TensorOptions& options);
///@}

///@{
/// `steps` evenly spaced numbers from start to end, both included. Floating only (DTypeError, also
/// for a bound that the dtype cannot hold); ShapeError for steps < 0. No gradient.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                Exactly<DType> dtype = float32);
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                const TensorOptions& options);
///@}

///@{
/// Ones on the main diagonal of an otherwise zero matrix (n, m), or (n, n); ShapeError for a
/// negative size. No gradient.
Tensor eye(std::int64_t n, std::int64_t m, Exactly<DType> dtype = float32);
Tensor eye(std::int64_t n, Exactly<DType> dtype = float32);
Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options);
Tensor eye(std::int64_t n, const TensorOptions& options);
///@}

///@{
/// The indices (2, n), int64, of the elements of a (rows, columns) matrix that tril (triu) keeps:
/// their rows and their columns, row-major. ShapeError for a negative size. No gradient.
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
///@}

///@{
/// The caller's memory as a tensor, row-major unless strides are given. Strides count elements;
/// there are as many as sizes, and none is negative (ShapeError). ShapeError also for strides that
/// reach further than an int64 can count, and for a null pointer where there are elements.
///
/// `deleter` is called with `data` exactly once: when the last tensor on it is destroyed, or before
/// this function throws. It runs wherever that tensor is destroyed, so it must not throw; what it
/// throws is written to stderr. If it destroys the last tensor on other such memory, that memory's
/// deleter runs after it. No gradient.
Tensor from_blob(void* data, const Shape& shape, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
///@}

}  // namespace tend
