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

using methods::InPlace;  // each method is defined beneath the operation of its name

/// Makes a tensor from the result of an operation that has no derivative.
inline Tensor constant(Array result, TensorRefs inputs,
                       const char* operation = __builtin_FUNCTION()) {
  if (autograd::Timeline::is_on())
    autograd::Timeline::note(operation, result, std::span(inputs.begin(), inputs.size()));
  return Tensor(std::move(result));
}

/// Makes a 0-d tensor from a number, in the dtype to which `self` and the number promote.
inline Tensor number_like(const Tensor& self, const Scalar& number) {
  return Tensor(Array::scalar(number, promote_types(self.dtype(), number)));
}

/// Checks that both inputs have the same dtype.
///
/// Throws: DTypeError - the dtypes differ; the error names `operation`
inline void check_one_dtype(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail<DTypeError>(operation, "the dtypes differ: ", a.dtype(), " and ", b.dtype());
}

/// Checks that `self` is floating.
///
/// Throws: DTypeError - `self` is not floating; the error names `operation`
inline void check_floating(const char* operation, const Tensor& self) {
  if (is_floating(self.dtype())) return;
  fail<DTypeError>(operation, "needs float32 or float64, got ", self.dtype());
}

/// Checks that `dtype`, if it is int64, can hold the number.
///
/// Throws: DTypeError - the number is out of range; the error names `operation`
void check_integer(const char* operation, DType dtype, const Scalar& number);
/// Checks that `dtype` can hold the number. float32 cannot hold a finite number that would become
/// infinite.
///
/// Throws: DTypeError - `dtype` cannot hold the number; the error names `operation`
void check_holds(const char* operation, DType dtype, const Scalar& number);

/// Checks a shape from the user before memory is allocated. The errors name `operation`.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor has more bytes than an int64 can count
void check_size(const char* operation, const Shape& shape, DType dtype);

/// The dtype of a tensor that is made from this number only: float32 for floating numbers.
inline DType own_dtype(const Scalar& number) noexcept {
  return number.dtype() == float64 ? float32 : number.dtype();
}

/// Calls make(dtype) with the dtype of the options, or with `usual` if they have none. The tensor
/// requires grad if the options say so.
///
/// Throws: DTypeError - the options ask for requires_grad, and the dtype is not floating; make is
///                      not called then
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

/// The options, with the dtype of `like` if they have none.
inline TensorOptions options_like(const Tensor& like, const TensorOptions& options) {
  return {options.dtype.value_or(like.dtype()), options.requires_grad};
}

/// Counts `dim` from the front. A 0-d tensor is an error here, although most operations accept
/// dimensions 0 and -1 for it.
///
/// Throws: IndexError - `dim` is out of range, or `x` is 0-d; the error names `operation`
inline std::int64_t own_dim(const char* operation, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0) fail<IndexError>(operation, "a 0-d tensor has no dimension ", dim);
  return wrap_dim(operation, dim, x.dim());
}

/// Computes -number, which wraps around for the smallest int64.
Scalar negative(const Scalar& number) noexcept;

/// Computes x * factor, and returns x itself if the factor is 1.
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

/// Draws a dropout mask for `count` elements: one bit for each, in row-major order (see
/// draw_keep_bits). Dropout keeps each element with probability 1 - p.
Array draw_kept(std::int64_t count, double p, Generator& generator);

/// Puts the dimensions `dims` back into `reduced`, with size 1, so that it broadcasts with the
/// input of the reduction. `input` is the shape of that input.
Tensor restore_dims(const Tensor& reduced, const Shape& input, const Shape& dims);

/// Returns the losses themselves, their mean or their sum. The mean divides by `count` if that is
/// given.
Tensor reduce_losses(const Tensor& losses, Reduction reduction,
                     std::optional<double> count = std::nullopt);
/// The derivative of reduce_losses: computes the gradient of each of `count` losses from the
/// gradient of the reduced loss. The result broadcasts to the shape of the losses.
Tensor share_of_losses(const Tensor& grad, Reduction reduction, const Scalar& count);

/// Checks the probability of dropout.
///
/// Throws: Error - p is not in [0, 1]; the error names `operation`
void check_dropout(const char* operation, double p);

/// The factor by which dropout with probability p multiplies the elements that it keeps.
double kept_factor(DType dtype, double p);

/// Multiplies the kept elements of self by `factor`, and the others by 0.
///
/// `bits` is a mask from draw_kept. Its bits are for the elements in row-major order, or for self
/// with its dimensions permuted to `order`.
Tensor mul_kept(const Tensor& self, const Array& bits, double factor, const Shape& order = {});

/// A gradient that one kernel computes: kernel(out, grad).
///
/// Use it only in a backward that records no graph. A backward that records one uses the formula in
/// public operations.
template <class Kernel>
Tensor fused(const Tensor& grad, Kernel kernel) {
  Array out = Array::empty_like(grad.array());
  kernel(out, grad.array());
  return Tensor(std::move(out));
}

/// Computes a formula of tensors in one pass. The tensors are converted to a floating dtype and
/// broadcast.
///
/// It records nothing, so a backward may use it only where it may use `fused`.
template <class Formula, class... Inputs>
Tensor computed(Formula formula, const kernels::Parameters& parameters, DType dtype,
                const Inputs&... inputs) {
  Shape shape;
  ((shape = broadcast_shapes("compute", shape, inputs.shape())), ...);
  Array out = Array::empty_like(shape, dtype, {&inputs.array()...});
  kernels::compute("compute", formula, parameters, out, AsDtype(inputs.array(), dtype)...);
  return Tensor(std::move(out));
}

/// Computes factor (x - middle), in one pass if no graph is recorded.
Tensor scaled_distance(const Tensor& factor, const Tensor& x, const Tensor& middle);

/// Computes the gradient of an input by `formula`, from d.grad() and the first saved tensor.
template <class Formula>
Tensor sloped(const Derivative& d, Formula formula, const kernels::Parameters& parameters = {}) {
  return computed(formula, parameters, d.grad().dtype(), d.grad(), d.saved(0));
}

/// Records that `values` are the elements of self at positions `indices` along `dim`. The gradient
/// goes back to these elements. `keepdim` is false if values and indices lack that dimension.
ValuesAndIndices picked(const char* node, const Tensor& self, Array values, Array indices,
                        std::int64_t dim, bool keepdim,
                        const char* operation = __builtin_FUNCTION());

/// The derivative of a piecewise constant function: zero for every input.
inline void zero_gradient(Derivative& d) {
  for (std::size_t i = 0; i < d.gradients().size(); ++i) {
    if (d.needs(i)) d.set(i, zeros(d.grad().shape(), d.grad().dtype()));
  }
}

/// Computes scatter_add(zeros(shape), dim, index, source) without copying the zeros.
Tensor scatter_to_zeros(const Shape& shape, std::int64_t dim, const Tensor& index,
                        const Tensor& source);

/// Checks an optional weight, which the errors call `name`. An undefined weight is accepted.
///
/// Throws:
///   DTypeError    - the weight has another dtype than `self`
///   AutogradError - the weight requires grad
inline void check_constant(const char* operation, const char* name, const Tensor& weight,
                           const Tensor& self) {
  if (!weight.defined()) return;
  if (weight.dtype() != self.dtype()) {
    fail<DTypeError>(operation, name, " must have the input's dtype ", self.dtype(), ", but is ",
                     weight.dtype());
  }
  if (grad_enabled() && weight.requires_grad()) {
    fail<AutogradError>(operation, name, " requires grad, but has no derivative");
  }
}

}  // namespace tend
