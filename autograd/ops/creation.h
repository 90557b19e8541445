/// \file
/// Functions that create tensors, which have no history and pass on no gradient. ShapeError for a
/// negative size, OutOfMemoryError for what does not fit in memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/array/array.h>

namespace tend {

/// Nested braces of numbers: 1.0, {1, 2}, {{1, 2}, {3, 4}}, ... Rows of one level must have the
/// same length (ShapeError).
class NestedNumbers {
 public:
  template <class T>
  requires std::floating_point<T> || std::integral<T> NestedNumbers(T value)
      : dtype_(Scalar(value).dtype()), values_{Scalar(value)} {}
  NestedNumbers(std::initializer_list<NestedNumbers> rows);

  /// bool if every number is bool, int64 if all are bools and integers, otherwise float32.
  DType dtype() const noexcept { return dtype_ == float64 ? float32 : dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::vector<Scalar>& values() const noexcept { return values_; }

 private:
  DType dtype_ = float64;
  Shape shape_;
  std::vector<Scalar> values_;
};

///@{
/// tensor({{0.43, 0.15}, {0.55, 0.87}}): as torch.tensor. The dtype is that of the numbers, float32
/// for floating ones, unless `dtype` is given. ShapeError for rows of different shapes, IndexError
/// for an integer, DTypeError for a floating number that int64 cannot hold. No gradient.
Tensor tensor(const NestedNumbers& numbers);
Tensor tensor(const NestedNumbers& numbers, DType dtype);
///@}

namespace detail {
///@{
/// For tensor(): the numbers, converted to `dtype`. No gradient.
Tensor tensor_of(std::span<const std::int64_t> values, const Shape& shape, DType dtype);
Tensor tensor_of(std::span<const double> values, const Shape& shape, DType dtype);
///@}
}  // namespace detail

///@{
/// The numbers of a vector, row-major in `shape`, or in one dimension. The dtype is that of the
/// numbers, float32 for floating ones, unless it is given, as torch::tensor has it. ShapeError for
/// another count than the shape has, DTypeError for a number that the dtype cannot hold. No
/// gradient.
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(
    const std::vector<T>& values, const Shape& shape, std::optional<DType> dtype = std::nullopt) {
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
  return detail::tensor_of(numbers, shape, dtype.value_or(own));
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor
tensor(const std::vector<T>& values, std::optional<DType> dtype = std::nullopt) {
  return tensor(values, Shape(static_cast<std::int64_t>(values.size())), dtype);
}
///@}

/// Uninitialised elements, false for bool; ShapeError for a negative size. No gradient.
Tensor empty(const Shape& shape, DType dtype = float32);
/// `value` everywhere. Without `dtype`, that of the value: bool, int64, or float32 for floating
/// numbers. ShapeError for a negative size, DTypeError for a number that the dtype cannot hold. No
/// gradient.
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt);
/// 0 everywhere; ShapeError for a negative size. No gradient.
Tensor zeros(const Shape& shape, DType dtype = float32);
/// 1 everywhere; ShapeError for a negative size. No gradient.
Tensor ones(const Shape& shape, DType dtype = float32);

/// full in the shape of `like`, and in its dtype unless another is given, with the errors of full.
/// No gradient.
Tensor full_like(const Tensor& like, const Scalar& value,
                 std::optional<DType> dtype = std::nullopt);
/// zeros in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
/// ones in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);

/// empty in the shape of `like`, and in its dtype unless another is given. No gradient.
Tensor empty_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);

/// start, start + step, ... up to `end`, which is excluded: int64 if all numbers are integers, else
/// float32, unless a dtype is given. DTypeError for bool, and for a number that int64 cannot hold.
/// Error for a step of 0, or one that leads away from end. No gradient.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt);
/// 0, 1, ... up to `end`, which is excluded: as above, from 0 in steps of 1. No gradient.
Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt);

/// `steps` evenly spaced numbers from start to end, both included. Floating only (DTypeError, also
/// for a bound that the dtype cannot hold); ShapeError for steps < 0. No gradient.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype = float32);

///@{
/// Ones on the main diagonal of an otherwise zero matrix (n, m), or (n, n); ShapeError for a
/// negative size. No gradient.
Tensor eye(std::int64_t n, std::int64_t m, DType dtype = float32);
Tensor eye(std::int64_t n, DType dtype = float32);
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
