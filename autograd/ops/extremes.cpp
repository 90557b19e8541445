#include <tend/autograd/ops/extremes.h>

#include <limits>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce/arg_reduce.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/sort.h>

namespace tend {
namespace {

// Shares `grad` evenly among the elements along `dims` where `chosen` is true. Both tensors have
// x's rank.
Tensor share_evenly(const Tensor& grad, const Tensor& chosen, const Shape& dims) {
  const Tensor mask = chosen.to(grad.dtype());
  return mask * (grad / sum(mask, dims, true));
}

// The derivative of an operation that picks one of all elements. All elements that are equal to the
// picked one share the gradient.
void share_with_equals(Derivative& d) {
  const Tensor x = d.saved(0), chosen = d.saved(1);
  // If there is a NaN, it is chosen, but it does not equal itself.
  const Tensor equal = isnan(chosen).item<bool>() ? isnan(x) : x == chosen;
  // As in PyTorch, the gradients of the other elements are zeros, even if d.grad() is infinite.
  d.set(0, where(equal, d.grad() / sum(equal.to(d.grad().dtype())), 0));
}

using Reduce = void (*)(const Array& out, const Array& a, const Shape& dims);

Tensor full_extreme(const char* operation, const char* node, Reduce kernel, const Tensor& self) {
  if (self.numel() == 0)
    fail<ShapeError>(operation, "no elements to choose from in ", self.shape());
  Array out = Array::empty({}, self.dtype());
  kernel(out, self.array(), wrap_dims(operation, {}, self.dim()));
  return record(node, std::move(out), {self}, {self, kOutput}, share_with_equals, operation);
}

Tensor shared_extreme(const char* operation, const char* node, Reduce kernel, const Tensor& self,
                      const Shape& dims, bool keepdim) {
  const Shape reduced = wrap_dims(operation, dims, self.dim());
  Array out = Array::empty(reduced_shape(self.shape(), reduced, keepdim), self.dtype());
  kernel(out, self.array(), reduced);
  return record(
      node, std::move(out), {self}, {self, kOutput},
      [reduced](Derivative& d) {
        const Tensor x = d.saved(0);
        const Shape kept = reduced_shape(x.shape(), reduced, true);
        d.set(0, share_evenly(view(d.grad(), kept), x == view(d.saved(1), kept), reduced));
      },
      operation);
}

using Extreme = void (*)(const Array& values, const Array& indices, const Array& a,
                         std::int64_t dim);

ValuesAndIndices extreme_along(const char* operation, const char* node, Extreme kernel,
                               const Tensor& self, std::int64_t dim, bool keepdim) {
  dim = wrap_dim(operation, dim, self.dim());
  const Shape dims = self.dim() == 0 ? Shape{} : Shape{dim};
  const Shape shape = reduced_shape(self.shape(), dims, keepdim);
  Array values = Array::empty(shape, self.dtype()), indices = Array::empty(shape, int64);
  kernel(values, indices, self.array(), dim);
  return picked(node, self, std::move(values), std::move(indices), dim, keepdim, operation);
}

using ArgKernel = void (*)(const Array& out, const Array& a, std::optional<std::int64_t> dim);

Tensor arg_extreme(const char* operation, ArgKernel kernel, const Tensor& self,
                   std::optional<std::int64_t> dim, bool keepdim) {
  if (self.numel() == 0 && !dim) {
    fail<ShapeError>(operation, "no elements to choose from in ", self.shape());
  }
  if (dim) dim = wrap_dim(operation, *dim, self.dim());
  const bool one = dim && self.dim() > 0;
  const Shape dims = one ? Shape{*dim} : wrap_dims(operation, {}, self.dim());
  Array out = Array::empty(reduced_shape(self.shape(), dims, keepdim), int64);
  kernel(out.view(one ? out.shape() : Shape{}), self.array(), dim);
  return constant(std::move(out), {self}, operation);
}

}  // namespace

Tensor max(const Tensor& self) {
  return full_extreme("max", "MaxBackward1", kernels::amax, self);
}
Tensor min(const Tensor& self) {
  return full_extreme("min", "MinBackward1", kernels::amin, self);
}

ValuesAndIndices max(const Tensor& self, Integer dim, Flag keepdim) {
  return extreme_along("max", "MaxBackward0", kernels::max, self, dim, keepdim);
}
ValuesAndIndices min(const Tensor& self, Integer dim, Flag keepdim) {
  return extreme_along("min", "MinBackward0", kernels::min, self, dim, keepdim);
}

Tensor amax(const Tensor& self, const Dims& dims, Flag keepdim) {
  return shared_extreme("amax", "AmaxBackward0", kernels::amax, self, dims, keepdim);
}
Tensor amin(const Tensor& self, const Dims& dims, Flag keepdim) {
  return shared_extreme("amin", "AminBackward0", kernels::amin, self, dims, keepdim);
}

Tensor argmax(const Tensor& self, std::optional<Integer> dim, Flag keepdim) {
  return arg_extreme("argmax", kernels::argmax, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<Integer> dim, Flag keepdim) {
  return arg_extreme("argmin", kernels::argmin, self, dim, keepdim);
}

Extremes aminmax(const Tensor& self, std::optional<Integer> dim, Flag keepdim) {
  const Dims dims = dim ? Dims(std::int64_t{*dim}) : Dims();
  return {amin(self, dims, keepdim), amax(self, dims, keepdim)};
}

ValuesAndIndices median(const Tensor& self, Integer dim, Flag keepdim) {
  dim = wrap_dim("median", dim, self.dim());
  if (self.dim() > 0 && self.size(dim) == 0) {
    fail<ShapeError>("median", "dimension ", dim, " of ", self.shape(), " is empty");
  }
  const Shape dims = self.dim() == 0 ? Shape{} : Shape{dim};
  const Shape kept = reduced_shape(self.shape(), dims, true);
  Array values = Array::empty(kept, self.dtype()), indices = Array::empty(kept, int64);
  kernels::median(values, indices, self.array(), dim);
  const Shape shape = reduced_shape(self.shape(), dims, keepdim);
  values = values.view(shape), indices = indices.view(shape);
  return picked("MedianBackward1", self, std::move(values), std::move(indices), dim, keepdim);
}

Tensor median(const Tensor& self) {
  Array middle = Array::empty({}, self.dtype());
  if (self.numel() == 0) {
    middle.fill(std::numeric_limits<double>::quiet_NaN());
  } else {
    kernels::median(middle, self.array());
  }
  return record("MedianBackward0", std::move(middle), {self}, {self, kOutput}, share_with_equals);
}

}  // namespace tend
