#include <tend/autograd/ops/creation.h>

#include <tend/autograd/tensor.h>

namespace tend {

NestedNumbers::NestedNumbers(std::initializer_list<NestedNumbers> rows) {
  shape_.push_back(static_cast<std::int64_t>(rows.size()));
  if (rows.size() == 0) return;
  const Shape& inner = rows.begin()->shape_;
  for (const std::int64_t size : inner) shape_.push_back(size);
  dtype_ = boolean;
  for (const NestedNumbers& row : rows) {
    if (row.shape_ != inner)
      fail<ShapeError>("tensor", "rows of shapes ", inner, " and ", row.shape_);
    dtype_ = promote_types(dtype_, row.dtype_);
    values_.insert(values_.end(), row.values_.begin(), row.values_.end());
  }
}

Tensor tensor(const NestedNumbers& numbers) {
  return tensor(numbers, numbers.dtype());
}

Tensor tensor(const NestedNumbers& numbers, DType dtype) {
  Array out = Array::empty(numbers.shape(), dtype);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.data<T>();
    for (const Scalar& value : numbers.values()) *to++ = value.to<T>();
  });
  return Tensor(std::move(out));
}

Tensor empty(const Shape& shape, DType dtype) {
  return Tensor(Array::empty(shape, dtype));
}
Tensor full(const Shape& shape, const Scalar& value, DType dtype) {
  return Tensor(Array::full(shape, value, dtype));
}
Tensor zeros(const Shape& shape, DType dtype) {
  return full(shape, 0, dtype);
}
Tensor ones(const Shape& shape, DType dtype) {
  return full(shape, 1, dtype);
}

}  // namespace tend
