// Helpers that several operations share.
#pragma once

#include <optional>
#include <utility>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/naming.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/core/kernels/elementwise/formulas.h>
#include <tend/core/random/random.h>

namespace tend {

using methods::InPlace;  // its methods are defined beneath the operations that they do in place

/// The result of an operation that has no derivative.
inline Tensor constant(Array result, TensorRefs inputs,
                       const char* operation = __builtin_FUNCTION()) {
  if (autograd::Timeline::is_on())
    autograd::Timeline::note(operation, result, std::span(inputs.begin(), inputs.size()));
  return Tensor(std::move(result));
}

/// A number as a 0-d tensor, of the dtype to which `self` and the number promote.
inline Tensor number_like(const Tensor& self, const Scalar& number) {
  return Tensor(Array::scalar(number, promote_types(self.dtype(), number)));
}

/// DTypeError naming `operation` unless both inputs have the same dtype.
inline void check_one_dtype(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail<DTypeError>(operation, "the dtypes differ: ", a.dtype(), " and ", b.dtype());
}

/// DTypeError naming `operation` unless `self` is floating.
inline void check_floating(const char* operation, const Tensor& self) {
  if (is_floating(self.dtype())) return;
  fail<DTypeError>(operation, "needs float32 or float64, got ", self.dtype());
}

/// DTypeError naming `operation` if `dtype` is int64 and the number is out of its range.
void check_integer(const char* operation, DType dtype, const Scalar& number);
/// DTypeError naming `operation` if `dtype` cannot hold the number: for int64 if the number is out
/// of range, for float32 if a finite number would become infinite.
void check_holds(const char* operation, DType dtype, const Scalar& number);

/// Checks a shape from the user before memory is allocated: ShapeError naming `operation` for a
/// negative size, OutOfMemoryError for more bytes than an int64 can count.
void check_size(const char* operation, const Shape& shape, DType dtype);

/// The dtype of a tensor that is made from this number alone: float32 for floating numbers.
inline DType own_dtype(const Scalar& number) noexcept {
  return number.dtype() == float64 ? float32 : number.dtype();
}

/// make(dtype) with the dtype of the options, or else `usual`; it requires grad where the options
/// say so. DTypeError naming `operation` where it cannot, before anything is made or drawn.
template <class Make>
Tensor make_with(const char* operation, const TensorOptions& options, DType usual, Make make) {
  const DType dtype = options.dtype.value_or(usual);
  if (options.requires_grad && !is_floating(dtype)) {
    fail<DTypeError>(operation, "only floating tensors have gradients, not ", dtype);
  }
  Tensor made = make(dtype);
  if (options.requires_grad) made.requires_grad_();
  return made;
}

/// The options with the dtype of `like` where they name none.
inline TensorOptions options_like(const Tensor& like, const TensorOptions& options) {
  return {options.dtype.value_or(like.dtype()), options.requires_grad};
}

/// `dim` counted from the front. IndexError naming `operation` for one out of range, and for any of
/// a 0-d tensor, where most operations allow 0 and -1.
inline std::int64_t own_dim(const char* operation, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0) fail<IndexError>(operation, "a 0-d tensor has no dimension ", dim);
  return wrap_dim(operation, dim, x.dim());
}

/// -number, which wraps around for the smallest int64.
Scalar negative(const Scalar& number) noexcept;

/// x * factor, or x itself where that is 1.
Tensor scaled(const Tensor& x, const Scalar& factor);

/// An array converted to a dtype. If it has that dtype already, nothing is copied, not even the
/// handle.
class AsDtype {
 public:
  AsDtype(const Array& array, DType dtype) : array_(&array) {
    if (array.dtype() != dtype) array_ = &converted_.emplace(array.to(dtype));
  }
  AsDtype(Array&&, DType) = delete;
  AsDtype(const AsDtype&) = delete;
  AsDtype& operator=(const AsDtype&) = delete;
  operator const Array&() const noexcept { return *array_; }

 private:
  const Array* array_;
  std::optional<Array> converted_;
};

/// Runs a kernel on one input, for the few operations whose result is row-major in PyTorch,
/// whatever the layout of the input.
template <class Kernel>
Array unary_row_major(const Tensor& self, Kernel kernel) {
  Array out = Array::empty(self.shape(), self.dtype());
  kernel(out, self.array());
  return out;
}

/// A dropout mask for `count` elements, each kept with probability 1 - p: one bit for each, in
/// row-major order (draw_keep_bits).
Array draw_kept(std::int64_t count, double p, Generator& generator);

/// `reduced` with the reduced dimensions `dims` put back with size 1, so that it broadcasts against
/// the input, whose shape is `input`.
Tensor restore_dims(const Tensor& reduced, const Shape& input, const Shape& dims);

/// The losses themselves, their mean or their sum. The mean divides by `count` if that is given.
Tensor reduce_losses(const Tensor& losses, Reduction reduction,
                     std::optional<double> count = std::nullopt);
/// The derivative of reduce_losses: given the gradient of its result, that of each of `count`
/// losses. It broadcasts to the shape of the losses.
Tensor share_of_losses(const Tensor& grad, Reduction reduction, const Scalar& count);

/// Error naming `operation` unless dropout's probability lies in [0, 1].
void check_dropout(const char* operation, double p);

/// The factor by which dropout with probability p multiplies the elements that it keeps.
double kept_factor(DType dtype, double p);

/// self times `factor` where an element is kept, times 0 elsewhere; `bits` is a mask from
/// draw_kept, for the elements with the dimensions in `order`, row-major unless given.
Tensor mul_kept(const Tensor& self, const Array& bits, double factor, const Shape& order = {});

/// A gradient that is computed by one kernel, kernel(out, grad). Only for a backward that records
/// no graph: one that does uses the formula in public operations beside it.
template <class Kernel>
Tensor fused(const Tensor& grad, Kernel kernel) {
  Array out = Array::empty_like(grad.array());
  kernel(out, grad.array());
  return Tensor(std::move(out));
}

/// A formula of tensors, which are converted to a floating dtype and broadcast, in one pass. It
/// records nothing, so a backward uses it where `fused` may be used.
template <class Formula, class... Inputs>
Tensor computed(Formula formula, const kernels::Parameters& parameters, DType dtype,
                const Inputs&... inputs) {
  Shape shape;
  ((shape = broadcast_shapes("compute", shape, inputs.shape())), ...);
  Array out = Array::empty_like(shape, dtype, {&inputs.array()...});
  kernels::compute("compute", formula, parameters, out, AsDtype(inputs.array(), dtype)...);
  return Tensor(std::move(out));
}

/// factor (x - middle), in one pass where no graph is recorded.
Tensor scaled_distance(const Tensor& factor, const Tensor& x, const Tensor& middle);

/// A derivative's gradient times the slope of its first saved tensor, by `formula`.
template <class Formula>
Tensor sloped(const Derivative& d, Formula formula, const kernels::Parameters& parameters = {}) {
  return computed(formula, parameters, d.grad().dtype(), d.grad(), d.saved(0));
}

/// Records that `values` are the elements of self at positions `indices` along `dim`, to which the
/// gradient goes back. `keepdim` is false if values and indices lack that dimension.
ValuesAndIndices picked(const char* node, const Tensor& self, Array values, Array indices,
                        std::int64_t dim, bool keepdim,
                        const char* operation = __builtin_FUNCTION());

/// The derivative of a piecewise constant function: zero for every input.
inline void zero_gradient(Derivative& d) {
  for (std::size_t i = 0; i < d.gradients().size(); ++i) {
    if (d.needs(i)) d.set(i, zeros(d.grad().shape(), d.grad().dtype()));
  }
}

/// scatter_add(zeros(shape), dim, index, source), without the copy of the zeros.
Tensor scatter_to_zeros(const Shape& shape, std::int64_t dim, const Tensor& index,
                        const Tensor& source);

/// Checks an optional weight, which errors call `name`: unless undefined, it must have the dtype of
/// `self` (DTypeError) and be a constant (AutogradError if it requires grad).
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
