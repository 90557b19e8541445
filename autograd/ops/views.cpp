#include <tend/autograd/ops/views.h>

#include <algorithm>

#include <tend/autograd/ops/helpers.h>

namespace tend {
namespace {

// Zeros of `shape` with `x` at the places that `view` shows: the transpose of a view that picks
// elements.
template <class View>
Tensor embed(const Tensor& x, const Shape& shape, View view) {
  Array out = Array::zeros(shape, x.dtype());
  view(out).copy_from(x.array());
  return record("EmbedBackward", std::move(out), {x}, {},
                [view](Derivative& d) { d.set(0, view(d.grad())); });
}

// A view that picks elements of its input, each at most once. `view` works on Arrays and on
// Tensors.
template <class View>
Tensor pick(const char* name, const Tensor& self, View view) {
  return record_view(name, self, view(self.array()), [view, shape = self.shape()](Derivative& d) {
    d.set(0, embed(d.grad(), shape, view));
  });
}

// A view of all elements in another arrangement; the gradient goes back by reshaping.
Tensor rearrange(const char* name, const Tensor& self, Array window) {
  return record_view(name, self, std::move(window),
                     [shape = self.shape()](Derivative& d) { d.set(0, reshape(d.grad(), shape)); });
}

}  // namespace

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
  return pick("SelectBackward0", self, [=](const auto& x) { return x.select(dim, index); });
}

Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step) {
  return pick("SliceBackward0", self,
              [=](const auto& x) { return x.slice(dim, start, stop, step); });
}

Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return pick("SliceBackward0", self, [=](const auto& x) { return x.narrow(dim, start, length); });
}

Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim0, std::int64_t dim1) {
  return pick("DiagonalBackward0", self,
              [=](const auto& x) { return x.diagonal(offset, dim0, dim1); });
}

Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return record_view("TransposeBackward0", self, self.array().transpose(dim0, dim1),
                     [=](Derivative& d) { d.set(0, transpose(d.grad(), dim0, dim1)); });
}

Tensor t(const Tensor& self) {
  if (self.dim() > 2) fail<ShapeError>("t", "needs at most 2 dimensions, got ", self.shape());
  Array window = self.dim() == 2 ? self.array().transpose(0, 1) : self.array();
  return record_view("TBackward0", self, std::move(window),
                     [](Derivative& d) { d.set(0, t(d.grad())); });
}

Tensor permute(const Tensor& self, const Shape& dims) {
  Array window = self.array().permute(dims);
  Shape inverse(dims.size(), 0);
  for (std::int64_t d = 0; d < dims.rank(); ++d)
    inverse[wrap_dim("permute", dims[d], dims.rank())] = d;
  return record_view("PermuteBackward0", self, std::move(window),
                     [inverse](Derivative& d) { d.set(0, permute(d.grad(), inverse)); });
}

Tensor expand(const Tensor& self, const Shape& shape) {
  // The engine sums over the dimensions that were repeated.
  return record_view("ExpandBackward0", self, self.array().expand(shape),
                     [](Derivative& d) { d.set(0, d.grad()); });
}

Tensor view(const Tensor& self, const Shape& shape) {
  return rearrange("ViewBackward0", self, self.array().view(shape));
}

Tensor reshape(const Tensor& self, const Shape& shape) {
  const Shape known = infer_shape("reshape", shape, self.numel());
  if (view_strides(self.shape(), self.strides(), known)) return view(self, known);
  const Tensor copy = clone(self);
  // Nobody else sees the copy, so there is no base to keep.
  return record("UnsafeViewBackward0", copy.array().view(known), {copy}, {},
                [from = self.shape()](Derivative& d) { d.set(0, reshape(d.grad(), from)); });
}

Tensor flatten(const Tensor& self, std::int64_t start, std::int64_t end) {
  if (self.dim() == 0) return reshape(self, {1});
  start = wrap_dim("flatten", start, self.dim());
  end = wrap_dim("flatten", end, self.dim());
  if (start > end)
    fail<ShapeError>("flatten", "start dimension ", start, " comes after end dimension ", end);
  Shape shape;
  std::int64_t merged = 1;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end) {
      shape.push_back(self.size(d));
    } else {
      merged *= self.size(d);
      if (d == end) shape.push_back(merged);
    }
  }
  return shape.rank() == self.dim() ? self : reshape(self, shape);
}

Tensor squeeze(const Tensor& self) {
  return rearrange("SqueezeBackward0", self, self.array().squeeze());
}

Tensor squeeze(const Tensor& self, std::int64_t dim) {
  return rearrange("SqueezeBackward1", self, self.array().squeeze(dim));
}

Tensor unsqueeze(const Tensor& self, std::int64_t dim) {
  return rearrange("UnsqueezeBackward0", self, self.array().unsqueeze(dim));
}

namespace {

std::int64_t size_along(const char* operation, const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0) fail<IndexError>(operation, "a 0-d tensor has no dimension ", dim);
  return self.shape()[wrap_dim(operation, dim, self.dim())];
}

}  // namespace

std::vector<Tensor> split(const Tensor& self, std::int64_t size, std::int64_t dim) {
  const std::int64_t total = size_along("split", self, dim);
  if (size < 0 || (size == 0 && total > 0)) fail<ShapeError>("split", "pieces of size ", size);
  std::vector<Tensor> pieces;
  for (std::int64_t start = 0; start < total || pieces.empty(); start += size) {
    pieces.push_back(narrow(self, dim, start, std::min(size, total - start)));
  }
  return pieces;
}

std::vector<Tensor> split(const Tensor& self, const Shape& sizes, std::int64_t dim) {
  const std::int64_t total = size_along("split", self, dim);
  std::int64_t rest = total;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > rest) {
      fail<ShapeError>("split", "sizes ", sizes, " do not add up to ", total, ", dimension ", dim,
                       " of ", self.shape());
    }
    rest -= size;
  }
  if (rest != 0) {
    fail<ShapeError>("split", "sizes ", sizes, " do not add up to ", total, ", dimension ", dim,
                     " of ", self.shape());
  }
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    pieces.push_back(narrow(self, dim, start, size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  if (chunks < 1) fail<ShapeError>("chunk", "needs at least 1 piece, got ", chunks);
  const std::int64_t total = size_along("chunk", self, dim);
  if (total == 0) return split(self, Shape(static_cast<std::size_t>(chunks), 0), dim);
  return split(self, std::max<std::int64_t>(1, total / chunks + (total % chunks != 0)), dim);
}

std::vector<Tensor> unbind(const Tensor& self, std::int64_t dim) {
  const std::int64_t total = size_along("unbind", self, dim);
  std::vector<Tensor> pieces;
  for (std::int64_t i = 0; i < total; ++i) pieces.push_back(select(self, dim, i));
  return pieces;
}

namespace {

// How many dimensions the indices take, those of an ellipsis not counted.
std::int64_t count_indexed(const Tensor& self, Indices indices) {
  std::int64_t taken = 0;
  std::int64_t ellipses = 0;
  for (const Index& each : indices) {
    taken += each.kind() == Index::Kind::integer || each.kind() == Index::Kind::range;
    ellipses += each.kind() == Index::Kind::rest;
  }
  if (ellipses > 1) fail<IndexError>("index", "an index has at most one ellipsis");
  if (taken > self.dim()) {
    fail<IndexError>("index", taken, " indices for a tensor of ", self.dim(), " dimensions, shape ",
                     self.shape());
  }
  return taken;
}

}  // namespace

Tensor index(const Tensor& self, Indices indices) {
  const std::int64_t left = self.dim() - count_indexed(self, indices);
  Tensor out = self;
  std::int64_t dim = 0;
  for (const Index& each : indices) {
    switch (each.kind()) {
      case Index::Kind::integer: out = select(out, dim, each.position()); break;
      case Index::Kind::range: {
        const Slice& s = each.slice();
        if (s.start || s.stop || s.step != 1) out = slice(out, dim, s.start, s.stop, s.step);
        ++dim;
        break;
      }
      case Index::Kind::new_axis: out = unsqueeze(out, dim++); break;
      case Index::Kind::rest: dim += left; break;
    }
  }
  // Like PyTorch, x[...] is a view even where it shows everything.
  return out.impl() == self.impl() ? view(self, self.shape()) : out;
}

Tensor contiguous(const Tensor& self) {
  return self.is_contiguous() ? self : clone(self);
}

Tensor clone(const Tensor& self) {
  return record("CloneBackward0", self.array().clone(), {self}, {},
                [](Derivative& d) { d.set(0, d.grad()); });
}

Tensor to(const Tensor& self, DType dtype) {
  if (self.dtype() == dtype) return self;
  Array out = self.array().to(dtype);
  if (!is_floating(dtype)) return Tensor(std::move(out));
  // The engine converts the gradient to the input's dtype.
  return record("ToCopyBackward0", std::move(out), {self}, {},
                [](Derivative& d) { d.set(0, d.grad()); });
}

}  // namespace tend
