#include <tend/autograd/ops/reduce.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/reduce.h>

namespace tend {
namespace {

// A reduced tensor with its reduced dimensions back (size 1), so that it broadcasts against the
// input again.
Tensor restore_dims(const Tensor& reduced, const Shape& input, const Shape& dims) {
  return view(reduced, reduced_shape(input, dims, true));
}

// How many elements make one of the result.
std::int64_t count_reduced(const Shape& input, const Shape& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= input[d];
  return count;
}

}  // namespace

Tensor sum(const Tensor& self, const Shape& dims, bool keepdim) {
  const Shape reduced = wrap_dims("sum", dims, self.dim());
  Array out =
      Array::empty(reduced_shape(self.shape(), reduced, keepdim), kernels::sum_dtype(self.dtype()));
  kernels::sum(out, self.array(), reduced);
  return record(dims.empty() ? "SumBackward0" : "SumBackward1", std::move(out), {self}, {},
                [shape = self.shape(), reduced](Derivative& d) {
                  d.set(0, expand(restore_dims(d.grad(), shape, reduced), shape));
                });
}

Tensor mean(const Tensor& self, const Shape& dims, bool keepdim) {
  const Shape reduced = wrap_dims("mean", dims, self.dim());
  Array out = Array::empty(reduced_shape(self.shape(), reduced, keepdim), self.dtype());
  kernels::mean(out, self.array(), reduced);
  return record(dims.empty() ? "MeanBackward0" : "MeanBackward1", std::move(out), {self}, {},
                [shape = self.shape(), reduced](Derivative& d) {
                  const Tensor share = d.grad() / count_reduced(shape, reduced);
                  d.set(0, expand(restore_dims(share, shape, reduced), shape));
                });
}

Tensor sum_to_size(const Tensor& self, const Shape& shape) {
  if (self.shape() == shape) return self;
  if (!broadcasts_to(shape, self.shape())) {
    fail<ShapeError>("sum_to_size", shape, " does not broadcast to ", self.shape());
  }
  const std::int64_t fresh = self.dim() - shape.rank();
  Shape dims;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d < fresh || (shape[d - fresh] == 1 && self.shape()[d] != 1)) dims.push_back(d);
  }
  return view(sum(self, dims, true), shape);
}

}  // namespace tend
