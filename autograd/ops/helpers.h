// What the operations share.
#pragma once

#include <optional>
#include <utility>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/naming.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>

namespace tend {

using methods::InPlace;  // whose methods stand beneath the operations that they are twins of

/// A number as a 0-d tensor, of the dtype that `self` with it promotes to.
inline Tensor number_like(const Tensor& self, const Scalar& number) {
  return Tensor(Array::scalar(number, promote_types(self.dtype(), number)));
}

/// DTypeError naming `operation` where two inputs that must have one dtype have two.
inline void check_one_dtype(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail<DTypeError>(operation, "the dtypes differ: ", a.dtype(), " and ", b.dtype());
}

/// DTypeError naming `operation` where int64, if that is `dtype`, cannot hold the number.
void check_integer(const char* operation, DType dtype, const Scalar& number);
/// DTypeError naming `operation` where `dtype` cannot hold the number: int64 for what it is out of
/// range for, and float32 for a finite one that would become infinite.
void check_holds(const char* operation, DType dtype, const Scalar& number);

/// ShapeError naming `operation` for a negative size, OutOfMemoryError for more bytes than there
/// can be: what a shape from the user is asked before memory is taken.
void check_size(const char* operation, const Shape& shape, DType dtype);

/// The dtype that a number by itself gives a tensor: float32 for floating ones.
inline DType own_dtype(const Scalar& number) noexcept {
  return number.dtype() == float64 ? float32 : number.dtype();
}

/// -number, which wraps around for the smallest int64.
Scalar negative(const Scalar& number) noexcept;

/// x * factor, or x itself where that is 1.
Tensor scaled(const Tensor& x, const Scalar& factor);

/// An array in a dtype that it may have already: then nothing is copied, not even the handle.
class AsDtype {
 public:
  AsDtype(const Array& array, DType dtype) : array_(&array) {
    if (array.dtype() != dtype) array_ = &converted_.emplace(array.to(dtype));
  }
  AsDtype(const AsDtype&) = delete;
  AsDtype& operator=(const AsDtype&) = delete;
  operator const Array&() const noexcept { return *array_; }

 private:
  const Array* array_;
  std::optional<Array> converted_;
};

/// An elementwise kernel of two arrays, run on the promoted and broadcast inputs; `out_dtype` is
/// that of the result when it is not the promoted one.
template <class Kernel>
Array broadcast_binary(const char* operation, const Tensor& a, const Tensor& b, Kernel kernel,
                       DType dtype, std::optional<DType> out_dtype = std::nullopt) {
  const DType result = out_dtype.value_or(dtype);
  Array out = a.shape() == b.shape()
                  ? Array::empty(a.shape(), result)
                  : Array::empty(broadcast_shapes(operation, a.shape(), b.shape()), result);
  kernel(out, AsDtype(a.array(), dtype), AsDtype(b.array(), dtype));
  return out;
}

/// An elementwise kernel of one array; integers become float32 when `floating`.
template <class Kernel>
Array unary(const Tensor& self, Kernel kernel, bool floating = true) {
  const DType dtype = floating ? to_floating(self.dtype()) : self.dtype();
  Array out = Array::empty(self.shape(), dtype);
  kernel(out, AsDtype(self.array(), dtype));
  return out;
}

/// Which of `count` elements dropout with probability p keeps, drawn in their order: the bits of
/// draw_keep_bits.
Array draw_kept(std::int64_t count, double p, Generator& generator);

/// A reduced tensor with its reduced dimensions back, of size 1, so that it broadcasts against the
/// input, whose shape is given, again.
Tensor restore_dims(const Tensor& reduced, const Shape& input, const Shape& dims);

/// The losses as `reduction` says; their mean divides by `count` where that is given.
Tensor reduce_losses(const Tensor& losses, Reduction reduction,
                     std::optional<double> count = std::nullopt);
/// The gradient of each of `count` losses, given that of what reduce_losses made of them.
Tensor share_of_losses(const Tensor& grad, Reduction reduction, const Scalar& count);

/// What dropout with probability p multiplies kept elements with.
double kept_factor(DType dtype, double p);

/// The product with that factor where an element is kept, and with 0 where not. The bits go through
/// the elements in row-major order.
Tensor mul_kept(const Tensor& self, const Array& bits, double factor);

/// A gradient that one kernel computes, kernel(out, grad). Only for a backward that records
/// nothing: the composed formula beside it is what it means.
template <class Kernel>
Tensor fused(const Tensor& grad, Kernel kernel) {
  Array out = Array::empty(grad.shape(), grad.dtype());
  kernel(out, grad.array());
  return Tensor(std::move(out));
}

/// Elements that come from the places `indices` along `dim`; the gradient goes back there.
/// `keepdim` is false where values and indices are without that dimension.
ValuesAndIndices picked(const char* node, const Tensor& self, Array values, Array indices,
                        std::int64_t dim, bool keepdim,
                        const char* operation = __builtin_FUNCTION());

/// The derivative of a function that is flat wherever it has a derivative.
inline void zero_gradient(Derivative& d) {
  for (std::size_t i = 0; i < d.gradients().size(); ++i) {
    if (d.needs(i)) d.set(i, zeros(d.grad().shape(), d.grad().dtype()));
  }
}

/// `weight`, called `name`, may be undefined; it must have the dtype of `self` and be a constant.
inline void check_constant(const char* operation, const char* name, const Tensor& weight,
                           const Tensor& self) {
  if (!weight.defined()) return;
  if (weight.dtype() != self.dtype()) {
    fail<DTypeError>(operation, name, " is ", weight.dtype(), ", the input ", self.dtype());
  }
  if (grad_enabled() && weight.requires_grad()) {
    fail<AutogradError>(operation, name, " requires grad, but has no derivative");
  }
}

}  // namespace tend
