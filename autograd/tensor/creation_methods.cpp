#include <tend/autograd/tensor/creation_methods.h>

#include <tend/autograd/ops/helpers.h>

namespace tend::methods {

Tensor Creation::new_empty(const Shape& shape, std::optional<DType> dtype) const {
  return new_empty(shape, TensorOptions{.dtype = dtype});
}
Tensor Creation::new_empty(const Shape& shape, const TensorOptions& options) const {
  return tend::empty(shape, options_like(self(), options));
}
Tensor Creation::new_full(const Shape& shape, const Scalar& value,
                          std::optional<DType> dtype) const {
  return new_full(shape, value, TensorOptions{.dtype = dtype});
}
Tensor Creation::new_full(const Shape& shape, const Scalar& value,
                          const TensorOptions& options) const {
  return tend::full(shape, value, options_like(self(), options));
}
Tensor Creation::new_zeros(const Shape& shape, std::optional<DType> dtype) const {
  return new_zeros(shape, TensorOptions{.dtype = dtype});
}
Tensor Creation::new_zeros(const Shape& shape, const TensorOptions& options) const {
  return tend::zeros(shape, options_like(self(), options));
}
Tensor Creation::new_ones(const Shape& shape, std::optional<DType> dtype) const {
  return new_ones(shape, TensorOptions{.dtype = dtype});
}
Tensor Creation::new_ones(const Shape& shape, const TensorOptions& options) const {
  return tend::ones(shape, options_like(self(), options));
}
Tensor Creation::new_tensor(const NestedNumbers& numbers, std::optional<DType> dtype) const {
  return new_tensor(numbers, TensorOptions{.dtype = dtype});
}
Tensor Creation::new_tensor(const NestedNumbers& numbers, const TensorOptions& options) const {
  return tend::tensor(numbers, options_like(self(), options));
}

const Tensor& Creation::self() const {
  return static_cast<const Tensor&>(*this);
}

}  // namespace tend::methods
