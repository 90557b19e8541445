// Tensors from nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
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

}  // namespace tend
