// Tensors from nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include <tend/core/array.h>

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

/// tensor({{0.43, 0.15}, {0.55, 0.87}}): as torch.tensor; floating numbers give float32 unless
/// `dtype` says otherwise.
Tensor tensor(const NestedNumbers& numbers);
Tensor tensor(const NestedNumbers& numbers, DType dtype);

/// Uninitialised elements.
Tensor empty(const Shape& shape, DType dtype = float32);
Tensor full(const Shape& shape, const Scalar& value, DType dtype = float32);
Tensor zeros(const Shape& shape, DType dtype = float32);
Tensor ones(const Shape& shape, DType dtype = float32);

/// Of the shape of `like`, and of its dtype unless another is asked for; without its history.
Tensor full_like(const Tensor& like, const Scalar& value,
                 std::optional<DType> dtype = std::nullopt);
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);

/// start, start + step, ... up to but without `end`: int64 when all numbers are integers, else
/// float32. Error for a step that does not lead from start to end.
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt);
/// From 0 in steps of 1.
Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt);

/// `steps` numbers at even distances, from start to end, both included; floating only (DTypeError).
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype = float32);

/// Ones on the main diagonal of an otherwise empty matrix (n, m), or (n, n).
Tensor eye(std::int64_t n, std::int64_t m, DType dtype = float32);
Tensor eye(std::int64_t n, DType dtype = float32);

/// The caller's memory as a tensor, row-major unless strides (in elements, not negative:
/// ShapeError) are given. `deleter` is called with `data` when the last tensor on it goes.
Tensor from_blob(void* data, const Shape& shape, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype = float32,
                 std::function<void(void*)> deleter = {});

}  // namespace tend
