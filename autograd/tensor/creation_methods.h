// Methods of Tensor that create tensors of this tensor's dtype, unless another dtype is given. The
// free functions of the same names without new_ have the documentation.
#pragma once

#include <optional>

#include <tend/autograd/tensor/tensor_options.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>

namespace tend {

class NestedNumbers;
class Tensor;

namespace methods {

/// A base class of Tensor.
class Creation {
 public:
  Tensor new_empty(const Shape& shape, std::optional<DType> dtype = std::nullopt) const;
  Tensor new_empty(const Shape& shape, const TensorOptions& options) const;
  Tensor new_full(const Shape& shape, const Scalar& value,
                  std::optional<DType> dtype = std::nullopt) const;
  Tensor new_full(const Shape& shape, const Scalar& value, const TensorOptions& options) const;
  Tensor new_zeros(const Shape& shape, std::optional<DType> dtype = std::nullopt) const;
  Tensor new_zeros(const Shape& shape, const TensorOptions& options) const;
  Tensor new_ones(const Shape& shape, std::optional<DType> dtype = std::nullopt) const;
  Tensor new_ones(const Shape& shape, const TensorOptions& options) const;
  /// Creates a tensor of nested numbers, x.new_tensor({{1, 2}, {3, 4}}), or of a vector.
  Tensor new_tensor(const NestedNumbers& numbers, std::optional<DType> dtype = std::nullopt) const;
  Tensor new_tensor(const NestedNumbers& numbers, const TensorOptions& options) const;

 private:
  const Tensor& self() const;
};

}  // namespace methods
}  // namespace tend
