/// \file
/// Tensors from nothing: without history, and no gradients. ShapeError for a negative size,
/// OutOfMemoryError for what does not fit.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

/// Nested braces of numbers: 1.0, {1, 2}, {{1, 2}, {3, 4}}, ... Rows of one level must have one
/// length (ShapeError).
class NestedNumbers {
 public:
  template <class T>
  requires std::floating_point<T> || std::integral<T> NestedNumbers(T value)
      : dtype_(Scalar(value).dtype()), values_{Scalar(value)} {}
  NestedNumbers(std::initializer_list<NestedNumbers> rows);

  /// bool and int64 when every number is one, otherwise float32.
  DType dtype() const noexcept { return dtype_ == float64 ? float32 : dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::vector<Scalar>& values() const noexcept { return values_; }

 private:
  DType dtype_ = float64;
  Shape shape_;
  std::vector<Scalar> values_;
};

///@{
/// tensor({{0.43, 0.15}, {0.55, 0.87}}): as torch.tensor, int64 or bool for such numbers; floating
/// ones give float32 unless `dtype` says otherwise. ShapeError for rows of different shapes,
/// IndexError for an integer, DTypeError for a floating number that int64 cannot hold. No gradient.
Tensor tensor(const NestedNumbers& numbers);
Tensor tensor(const NestedNumbers& numbers, DType dtype);
///@}

/// Uninitialised elements, of bool false; ShapeError for a negative size. No gradient.
Tensor empty(const Shape& shape, DType dtype = float32);
/// `value` everywhere, of its own dtype unless another is asked for: bool, int64, and float32 for
/// floating numbers. ShapeError for a negative size, DTypeError for a number that the dtype cannot
/// hold. No gradient.
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt);
/// 0 everywhere; ShapeError for a negative size. No gradient.
Tensor zeros(const Shape& shape, DType dtype = float32);
/// 1 everywhere; ShapeError for a negative size. No gradient.
Tensor ones(const Shape& shape, DType dtype = float32);

/// full of the shape of `like`, and of its dtype unless another is asked for; its errors. No
/// gradient.
Tensor full_like(const Tensor& like, const Scalar& value,
                 std::optional<DType> dtype = std::nullopt);
/// zeros of the shape of `like`, and of its dtype unless another is asked for. No gradient.
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
/// ones of the shape of `like`, and of its dtype unless another is asked for. No gradient.
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);

/// start, start + step, ... up to but without `end`: int64 when all numbers are integers, else
/// float32, or the given dtype, but bool (DTypeError, for a number that int64 cannot hold too).
/// Error for a step of the other sign than end - start, or of 0. No gradient.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt);
/// 0, 1, ... up to but without `end`, as from 0 in steps of 1. No gradient.
Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt);

/// `steps` numbers at even distances, from start to end, both included. Floating only (DTypeError,
/// for a bound that the dtype cannot hold too); ShapeError for steps < 0. No gradient.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype = float32);

///@{
/// Ones on the main diagonal of an otherwise zero matrix (n, m), or (n, n); ShapeError for a
/// negative size. No gradient.
Tensor eye(std::int64_t n, std::int64_t m, DType dtype = float32);
Tensor eye(std::int64_t n, DType dtype = float32);
///@}

///@{
/// The caller's memory as a tensor, row-major unless strides are given: in elements, as many as
/// sizes, and not negative. ShapeError for others, for strides that lead beyond what an int64 can
/// count, and for no memory where there are elements.
///
/// `deleter` is called with `data` once, in every case: when the last tensor on it goes, or before
/// an error leaves this function. It runs wherever that tensor goes, so it must not throw; what it
/// throws is written to stderr. Tensors on other memory that it lets go follow after it, one after
/// the other. No gradient.
Tensor from_blob(void* data, const Shape& shape, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
///@}

}  // namespace tend
