// The largest and the smallest elements: declared in reduce.h, and in indexing.h where their order
// counts.
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce.h>
#include <tend/core/kernels/scan.h>

namespace tend {
namespace {

// `grad` shared evenly by the elements along `dims` where `chosen`; both have x's rank.
Tensor share_evenly(const Tensor& grad, const Tensor& chosen, const Shape& dims) {
  const Tensor mask = chosen.to(grad.dtype());
  return mask * (grad / sum(mask, dims, true));
}

using Reduce = void (*)(const Array& out, const Array& a, const Shape& dims);

Tensor full_extreme(const char* operation, const char* node, Reduce kernel, const Tensor& self) {
  if (self.numel() == 0)
    fail<ShapeError>(operation, "no elements to choose from in ", self.shape());
  Array out = Array::empty({}, self.dtype());
  kernel(out, self.array(), wrap_dims(operation, {}, self.dim()));
  return record(node, std::move(out), {self}, {self, kOutput}, [](Derivative& d) {
    const Tensor x = d.saved(0), extreme = d.saved(1);
    // NaN is chosen where there is one, but does not equal itself.
    const Tensor chosen = isnan(extreme).item<bool>() ? isnan(x) : x == extreme;
    d.set(0, share_evenly(d.grad(), chosen, {}));
  });
}

Tensor shared_extreme(const char* operation, const char* node, Reduce kernel, const Tensor& self,
                      const Shape& dims, bool keepdim) {
  const Shape reduced = wrap_dims(operation, dims, self.dim());
  Array out = Array::empty(reduced_shape(self.shape(), reduced, keepdim), self.dtype());
  kernel(out, self.array(), reduced);
  return record(node, std::move(out), {self}, {self, kOutput}, [reduced](Derivative& d) {
    const Tensor x = d.saved(0);
    const Shape kept = reduced_shape(x.shape(), reduced, true);
    d.set(0, share_evenly(view(d.grad(), kept), x == view(d.saved(1), kept), reduced));
  });
}

// Elements that come from the places `indices` along `dim`; the gradient goes back there.
// `keepdim` is false where values and indices are without that dimension.
ValuesAndIndices picked(const char* node, const Tensor& self, Array values, Array indices,
                        std::int64_t dim, bool keepdim) {
  const Tensor places(std::move(indices));
  Tensor result = record(node, std::move(values), {self}, {places},
                         [dim, keepdim, shape = self.shape()](Derivative& d) {
                           const auto along = [&](const Tensor& x) {
                             return keepdim || shape.empty() ? x : unsqueeze(x, dim);
                           };
                           d.set(0, scatter_add(zeros(shape, d.grad().dtype()), dim,
                                                along(d.saved(0)), along(d.grad())));
                         });
  return {std::move(result), places};
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
  return picked(node, self, std::move(values), std::move(indices), dim, keepdim);
}

using Place = void (*)(const Array& out, const Array& a, std::optional<std::int64_t> dim);

Tensor place(const char* operation, Place kernel, const Tensor& self,
             std::optional<std::int64_t> dim, bool keepdim) {
  if (self.numel() == 0 && !dim) {
    fail<ShapeError>(operation, "no elements to choose from in ", self.shape());
  }
  if (dim) dim = wrap_dim(operation, *dim, self.dim());
  const bool one = dim && self.dim() > 0;
  const Shape dims = one ? Shape{*dim} : wrap_dims(operation, {}, self.dim());
  Array out = Array::empty(reduced_shape(self.shape(), dims, keepdim), int64);
  kernel(out.view(one ? out.shape() : Shape{}), self.array(), dim);
  return Tensor(std::move(out));
}

}  // namespace

Tensor max(const Tensor& self) {
  return full_extreme("max", "MaxBackward1", kernels::amax, self);
}
Tensor min(const Tensor& self) {
  return full_extreme("min", "MinBackward1", kernels::amin, self);
}

ValuesAndIndices max(const Tensor& self, std::int64_t dim, bool keepdim) {
  return extreme_along("max", "MaxBackward0", kernels::max, self, dim, keepdim);
}
ValuesAndIndices min(const Tensor& self, std::int64_t dim, bool keepdim) {
  return extreme_along("min", "MinBackward0", kernels::min, self, dim, keepdim);
}

Tensor amax(const Tensor& self, const Dims& dims, bool keepdim) {
  return shared_extreme("amax", "AmaxBackward0", kernels::amax, self, dims, keepdim);
}
Tensor amin(const Tensor& self, const Dims& dims, bool keepdim) {
  return shared_extreme("amin", "AminBackward0", kernels::amin, self, dims, keepdim);
}

Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return place("argmax", kernels::argmax, self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return place("argmin", kernels::argmin, self, dim, keepdim);
}

ValuesAndIndices sort(const Tensor& self, std::int64_t dim, bool descending) {
  dim = wrap_dim("sort", dim, self.dim());
  Array values = Array::empty(self.shape(), self.dtype());
  Array indices = Array::empty(self.shape(), int64);
  kernels::sort(values, indices, self.array(), dim, descending);
  return picked("SortBackward0", self, std::move(values), std::move(indices), dim, true);
}

ValuesAndIndices topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest) {
  dim = wrap_dim("topk", dim, self.dim());
  Shape shape = self.shape();
  const std::int64_t length = shape.empty() ? 1 : shape[dim];
  if (k < 0 || k > length) {
    fail<ShapeError>("topk", "k = ", k, ", but dimension ", dim, " of ", shape, " has ", length,
                     " elements");
  }
  if (!shape.empty()) shape[dim] = k;
  Array values = Array::empty(shape, self.dtype()), indices = Array::empty(shape, int64);
  kernels::topk(values, indices, self.array(), k, dim, largest);
  return picked("TopkBackward0", self, std::move(values), std::move(indices), dim, true);
}

}  // namespace tend
