#include <tend/autograd/ops/views.h>

#include <tend/autograd/graph/strided_region.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {
namespace {

// Records a view of all elements in another shape. The gradient is reshaped back.
Tensor rearrange(const char* name, const Tensor& self, Array window,
                 const char* operation = __builtin_FUNCTION()) {
  return record_view(
      name, self, std::move(window),
      [shape = self.shape()](Derivative& d) { d.set(0, reshape(d.grad(), shape)); }, operation);
}

}  // namespace

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
  return record_pick("SelectBackward0", self, [=](const auto& x) { return x.select(dim, index); });
}

Tensor slice(const Tensor& self, std::int64_t dim, std::optional<Integer> start,
             std::optional<Integer> stop, std::int64_t step) {
  return record_pick("SliceBackward0", self,
                     [=](const auto& x) { return x.slice(dim, start, stop, step); });
}

Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return record_pick("SliceBackward0", self,
                     [=](const auto& x) { return x.narrow(dim, start, length); });
}

Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim0, std::int64_t dim1) {
  return record_pick("DiagonalBackward0", self,
                     [=](const auto& x) { return x.diagonal(offset, dim0, dim1); });
}

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return record_view("TransposeBackward0", self, self.array().transpose(dim0, dim1),
                     [=](Derivative& d) { d.set(0, transpose(d.grad(), dim0, dim1)); });
}
const Tensor& InPlace::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  return update_view("transpose_", self(), tend::transpose, dim0, dim1);
}

Tensor swapaxes(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return transpose(self, dim0, dim1);
}
const Tensor& InPlace::swapaxes_(std::int64_t dim0, std::int64_t dim1) const {
  return update_view("swapaxes_", self(), tend::transpose, dim0, dim1);
}

Tensor t(const Tensor& self) {
  if (self.dim() > 2) fail<ShapeError>("t", "needs at most 2 dimensions, got ", self.shape());
  Array window = self.dim() == 2 ? self.array().transpose(0, 1) : self.array();
  return record_view("TBackward0", self, std::move(window),
                     [](Derivative& d) { d.set(0, t(d.grad())); });
}
const Tensor& InPlace::t_() const {
  return update_view("t_", self(), tend::t);
}

Tensor permute(const Tensor& self, const Shape& dims) {
  Array window = self.array().permute(dims);
  Shape order = dims;
  for (std::int64_t& d : order) d = wrap_dim("permute", d, dims.rank());
  return record_view("PermuteBackward0", self, std::move(window),
                     [inverse = inverse_permutation(order)](Derivative& d) {
                       d.set(0, permute(d.grad(), inverse));
                     });
}

Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination) {
  return movedim(self, Shape{source}, Shape{destination});
}

Tensor movedim(const Tensor& self, const Shape& source, const Shape& destination) {
  if (source.size() != destination.size()) {
    fail<ShapeError>("movedim", "source ", source, " and destination ", destination,
                     " differ in length");
  }
  wrap_dims("movedim", source, self.dim());  // throws for a dimension named twice
  wrap_dims("movedim", destination, self.dim());
  // An empty list moves nothing, but wrap_dims would read it as all dimensions.
  if (self.dim() == 0 || source.empty()) return view(self, self.shape());
  constexpr std::int64_t kFree = -1;
  Shape order = Shape::filled(self.shape().size(), kFree);
  Shape moved = Shape::filled(self.shape().size(), 0);
  for (std::int64_t i = 0; i < source.rank(); ++i) {
    const std::int64_t from = wrap_dim("movedim", source[i], self.dim());
    order[wrap_dim("movedim", destination[i], self.dim())] = from;
    moved[from] = 1;
  }
  std::int64_t next = 0;
  for (std::int64_t& from : order) {
    if (from != kFree) continue;
    while (moved[next] == 1) ++next;
    from = next++;
  }
  return permute(self, order);
}

Tensor expand(const Tensor& self, const Shape& shape) {
  // The engine sums over the dimensions that were repeated.
  return record_view("ExpandBackward0", self, self.array().expand(shape),
                     [](Derivative& d) { d.set(0, d.grad()); });
}

Tensor expand_as(const Tensor& self, const Tensor& other) {
  return expand(self, other.shape());
}

Tensor broadcast_to(const Tensor& self, const Shape& shape) {
  return expand(self, shape);
}

Tensor view(const Tensor& self, const Shape& shape) {
  return rearrange("ViewBackward0", self, self.array().view(shape));
}

Tensor view_as(const Tensor& self, const Tensor& other) {
  return view(self, other.shape());
}

Tensor reshape(const Tensor& self, const Shape& shape) {
  const Shape known = infer_shape("reshape", shape, self.numel());
  if (self.is_contiguous() || view_strides(self.shape(), self.strides(), known))
    return view(self, known);
  const Tensor copy = contiguous(self);
  // Nobody else has the copy, so the graph does not need to record the result as a view.
  return record("UnsafeViewBackward0", copy.array().view(known), {copy}, {},
                [from = self.shape()](Derivative& d) { d.set(0, reshape(d.grad(), from)); });
}

Tensor reshape_as(const Tensor& self, const Tensor& other) {
  return reshape(self, other.shape());
}

Tensor flatten(const Tensor& self, std::int64_t start, std::int64_t end) {
  start = wrap_dim("flatten", start, self.dim());
  end = wrap_dim("flatten", end, self.dim());
  if (start > end)
    fail<ShapeError>("flatten", "start dimension ", start, " comes after end dimension ", end);
  if (self.dim() == 0) return reshape(self, {1});
  Shape shape;
  std::int64_t merged = 1;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end) {
      shape.push_back(self.size(d));
    } else {
      if (__builtin_mul_overflow(merged, self.size(d), &merged)) {
        fail<ShapeError>("flatten", "dimensions ", start, " to ", end, " of ", self.shape(),
                         " have more elements than an int64 can count");
      }
      if (d == end) shape.push_back(merged);
    }
  }
  return shape.rank() == self.dim() ? self : reshape(self, shape);
}

Tensor unflatten(const Tensor& self, std::int64_t dim, const Shape& sizes) {
  dim = own_dim("unflatten", self, dim);
  if (sizes.empty()) fail<ShapeError>("unflatten", "the sizes of dimension ", dim, " are empty");
  const Shape known = infer_shape("unflatten", sizes, self.shape()[dim]);
  Shape shape = self.shape();
  shape.erase(dim);
  for (std::int64_t i = 0; i < known.rank(); ++i) shape.insert(dim + i, known[i]);
  return view(self, shape);
}

Tensor squeeze(const Tensor& self) {
  return rearrange("SqueezeBackward0", self, self.array().squeeze());
}
const Tensor& InPlace::squeeze_() const {
  return update_view("squeeze_", self(), tend::squeeze);
}

Tensor squeeze(const Tensor& self, std::int64_t dim) {
  return rearrange("SqueezeBackward1", self, self.array().squeeze(dim));
}
const Tensor& InPlace::squeeze_(std::int64_t dim) const {
  return update_view("squeeze_", self(), tend::squeeze, dim);
}

Tensor squeeze(const Tensor& self, const Shape& dims) {
  return rearrange("SqueezeBackward2", self, self.array().squeeze(dims));
}
const Tensor& InPlace::squeeze_(const Shape& dims) const {
  return update_view("squeeze_", self(), tend::squeeze, dims);
}

Tensor unsqueeze(const Tensor& self, std::int64_t dim) {
  return rearrange("UnsqueezeBackward0", self, self.array().unsqueeze(dim));
}
const Tensor& InPlace::unsqueeze_(std::int64_t dim) const {
  return update_view("unsqueeze_", self(), tend::unsqueeze, dim);
}

Tensor unfold(const Tensor& self, std::int64_t dim, std::int64_t size, std::int64_t step) {
  return record_view("UnfoldBackward0", self, self.array().unfold(dim, size, step),
                     [=, shape = self.shape()](Derivative& d) {
                       d.set(0, unfold_backward(d.grad(), shape, dim, size, step));
                     });
}

Tensor unfold_backward(const Tensor& self, const Shape& shape, std::int64_t dim, std::int64_t size,
                       std::int64_t step) {
  Array out = Array::zeros(shape, self.dtype());
  Array windows = out.unfold(dim, size, step);
  if (windows.shape() != self.shape()) {
    fail<ShapeError>("unfold_backward", "the windows of size ", size, " along dimension ", dim,
                     " of ", shape, " must have shape ", windows.shape(), ", but have ",
                     self.shape());
  }
  const auto add = [&](std::int64_t along, std::int64_t i) {
    const Array places = windows.select(along, i);
    kernels::add(places, places, self.array().select(along, i));
  };
  // Windows may overlap, but the elements of one window are distinct, and so are the k-th elements
  // of all windows. Either set can be added at once; the loop uses the one that needs fewer rounds.
  const std::int64_t last = self.dim() - 1;
  const std::int64_t count_dim = last == 0 ? 0 : wrap_dim("unfold_backward", dim, last);
  const std::int64_t along = self.size(count_dim) < size ? count_dim : last;
  for (std::int64_t i = 0; i < self.size(along); ++i) add(along, i);
  windows = {};
  return record("UnfoldBackwardBackward0", std::move(out), {self}, {},
                [=](Derivative& d) { d.set(0, unfold(d.grad(), dim, size, step)); });
}

namespace {

// Records `elements`, a copy of self.
Tensor copied(const Tensor& self, Array elements, const char* operation = __builtin_FUNCTION()) {
  return record(
      "CloneBackward0", std::move(elements), {self}, {}, [](Derivative& d) { d.set(0, d.grad()); },
      operation);
}

}  // namespace

Tensor contiguous(const Tensor& self) {
  return self.is_contiguous() ? self : copied(self, self.array().clone());
}

Tensor clone(const Tensor& self) {
  Array out = Array::empty_like(self.array());
  out.copy_from(self.array());
  return copied(self, std::move(out));
}

Tensor to(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) return self;
  Array out = self.array().to(dtype);
  if (!is_floating(dtype)) return constant(std::move(out), {self});
  // The engine converts the gradient to the input's dtype.
  return record("ToCopyBackward0", std::move(out), {self}, {},
                [](Derivative& d) { d.set(0, d.grad()); });
}

}  // namespace tend
