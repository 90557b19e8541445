// Views of an Array: other shapes, strides and offsets for the same storage.
#include <utility>

#include <tend/core/array/array.h>

namespace tend {
namespace {

// stride * times, or the stride itself if that overflows int64: then no element is stepped over,
// and any number will do.
std::int64_t stretched(std::int64_t stride, std::int64_t times) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(stride, times, &product) ? stride : product;
}

}  // namespace

Array Array::window(Shape&& shape, Shape&& strides, std::int64_t offset) const {
  return {dtype_, std::move(shape), std::move(strides), offset, storage_};
}

// Moves the offset to `position` of a dimension. Without elements it stays, since the strides can
// be any numbers.
void Array::advance(std::int64_t position, std::int64_t stride) noexcept {
  if (numel_ > 0) offset_ += position * stride;
}

Array Array::select(std::int64_t dim, std::int64_t index) const {
  if (rank() == 0) fail<IndexError>("select", "a 0-d tensor has no dimension to select from");
  dim = wrap_dim("select", dim, rank());
  if (index < -shape_[dim] || index >= shape_[dim]) {
    fail<IndexError>("select", "index ", index, " is out of range for dimension ", dim, " of ",
                     shape_);
  }
  if (index < 0) index += shape_[dim];
  Array out = *this;
  out.shape_.erase(dim);
  out.strides_.erase(dim);
  out.count_elements();
  out.advance(index, strides_[dim]);
  return out;
}

Array Array::slice(std::int64_t dim, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> stop, std::int64_t step) const {
  if (rank() == 0) fail<IndexError>("slice", "a 0-d tensor has no dimension to slice");
  dim = wrap_dim("slice", dim, rank());
  if (step < 1) fail<IndexError>("slice", "step must be positive, got ", step);
  const std::int64_t size = shape_[dim];
  const auto clamp = [size](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const std::int64_t first = clamp(start.value_or(0));
  const std::int64_t last = std::max(first, clamp(stop.value_or(size)));
  const std::int64_t span = last - first;
  Array out = *this;
  out.shape_[dim] = span == 0 ? 0 : (span - 1) / step + 1;
  if (out.shape_[dim] > 1) out.strides_[dim] = stretched(strides_[dim], step);
  out.count_elements();
  out.advance(first, strides_[dim]);
  return out;
}

Array Array::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
  if (rank() == 0) fail<IndexError>("narrow", "a 0-d tensor has no dimension to narrow");
  dim = wrap_dim("narrow", dim, rank());
  const std::int64_t size = shape_[dim];
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first) {
    fail<IndexError>("narrow", "start ", start, " with length ", length, " leaves dimension ", dim,
                     " of ", shape_);
  }
  return slice(dim, first, first + length);
}

Array Array::transpose(std::int64_t dim0, std::int64_t dim1) const {
  dim0 = wrap_dim("transpose", dim0, rank());
  dim1 = wrap_dim("transpose", dim1, rank());
  Array out = *this;
  if (rank() == 0) return out;
  std::swap(out.shape_[dim0], out.shape_[dim1]);
  std::swap(out.strides_[dim0], out.strides_[dim1]);
  out.count_elements();
  return out;
}

Array Array::permute(const Shape& dims) const {
  if (dims.rank() != rank()) {
    fail<ShapeError>("permute", dims, " does not name the ", rank(), " dimensions of ", shape_);
  }
  if (rank() > 0) wrap_dims("permute", dims, rank());  // throws for a dimension named twice
  Array out = *this;
  for (std::int64_t d = 0; d < rank(); ++d) {
    const std::int64_t from = wrap_dim("permute", dims[d], rank());
    out.shape_[d] = shape_[from];
    out.strides_[d] = strides_[from];
  }
  out.count_elements();
  return out;
}

Array Array::expand(const Shape& wanted) const {
  const std::int64_t fresh = wanted.rank() - rank();
  if (fresh < 0) fail<ShapeError>("expand", shape_, " has more dimensions than ", wanted);
  Shape shape = wanted;
  Shape strides = Shape::filled(wanted.size(), 0);
  for (std::int64_t d = 0; d < wanted.rank(); ++d) {
    const std::int64_t size = d < fresh ? 1 : shape_[d - fresh];
    if (wanted[d] == -1 && d >= fresh) shape[d] = size;
    if (shape[d] < 0 || (size != 1 && size != shape[d])) {
      fail<ShapeError>("expand", shape_, " does not expand to ", wanted, ": dimension ",
                       d - wanted.rank(), " is ", size);
    }
    strides[d] = size == 1 && shape[d] != 1 ? 0 : d < fresh ? 0 : strides_[d - fresh];
  }
  return window(std::move(shape), std::move(strides), offset_);
}

Shape infer_shape(std::string_view operation, const Shape& shape, std::int64_t numel) {
  Shape known = shape;
  std::int64_t unknown = -1;
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] != -1) continue;
    if (unknown >= 0) fail<ShapeError>(operation, "only one size can be -1, got ", shape);
    unknown = d;
    known[d] = 1;
  }
  const std::int64_t count = element_count(known);
  if (unknown >= 0 && count > 0 && numel % count == 0) {
    known[unknown] = numel / count;
  } else if (unknown >= 0 || count != numel) {
    fail<ShapeError>(operation, numel, " elements do not fill shape ", shape,
                     unknown >= 0 && count == 0 ? ": -1 is ambiguous beside a size of 0" : "");
  }
  return known;
}

std::optional<Shape> view_strides(const Shape& shape, const Shape& strides, const Shape& wanted) {
  if (element_count(shape) == 0) return contiguous_strides(wanted);
  Shape out = Shape::filled(wanted.size(), 0);
  std::int64_t to = wanted.rank() - 1;
  // From the last dimension on, find runs of dimensions whose elements are evenly spaced; wanted
  // sizes must multiply to the number of elements of each run.
  for (std::int64_t d = shape.rank() - 1; d >= 0;) {
    const std::int64_t step = strides[d];
    std::int64_t run = shape[d--];
    if (run == 1) continue;
    for (; d >= 0 && (shape[d] == 1 || strides[d] == step * run); --d) run *= shape[d];
    std::int64_t tiled = 1;
    while (to >= 0 && (tiled < run || wanted[to] == 1)) {
      out[to] = step * tiled;
      tiled *= wanted[to--];
    }
    if (tiled != run) return std::nullopt;
  }
  for (; to >= 0; --to) {
    if (wanted[to] != 1) return std::nullopt;
    out[to] = 1;
  }
  return out;
}

Array Array::view(const Shape& wanted) const {
  Shape shape = infer_shape("view", wanted, numel_);
  if (contiguous_) {
    Shape steps = contiguous_strides(shape);
    return window(std::move(shape), std::move(steps), offset_);
  }
  auto strides = view_strides(shape_, strides_, shape);
  if (!strides) {
    fail<ShapeError>("view", shape_, " with strides ", strides_, " cannot be seen as ", shape,
                     " without a copy; use reshape or contiguous");
  }
  return window(std::move(shape), std::move(*strides), offset_);
}

Array Array::reshape(const Shape& wanted) const {
  check_defined("reshape");
  Shape shape = infer_shape("reshape", wanted, numel_);
  if (auto strides = view_strides(shape_, strides_, shape)) {
    return window(std::move(shape), std::move(*strides), offset_);
  }
  return clone().view(shape);
}

Array Array::squeeze() const {
  Shape shape;
  Shape strides;
  for (std::int64_t d = 0; d < rank(); ++d) {
    if (shape_[d] == 1) continue;
    shape.push_back(shape_[d]);
    strides.push_back(strides_[d]);
  }
  return window(std::move(shape), std::move(strides), offset_);
}

Array Array::squeeze(std::int64_t dim) const {
  dim = wrap_dim("squeeze", dim, rank());
  if (rank() == 0 || shape_[dim] != 1) return *this;
  return select(dim, 0);
}

Array Array::squeeze(const Shape& dims) const {
  Array out = *this;
  if (dims.empty()) return out;
  const Shape wrapped = wrap_dims("squeeze", dims, rank());
  for (std::int64_t i = wrapped.rank() - 1; i >= 0; --i) out = out.squeeze(wrapped[i]);
  return out;
}

Array Array::unsqueeze(std::int64_t dim) const {
  dim = wrap_dim("unsqueeze", dim, rank() + 1);
  Array out = *this;
  out.strides_.insert(dim, dim < rank() ? stretched(strides_[dim], shape_[dim]) : 1);
  out.shape_.insert(dim, 1);
  out.count_elements();
  return out;
}

Array Array::diagonal(std::int64_t offset, std::int64_t dim0, std::int64_t dim1) const {
  dim0 = wrap_dim("diagonal", dim0, rank());
  dim1 = wrap_dim("diagonal", dim1, rank());
  if (rank() < 2 || dim0 == dim1) {
    fail<ShapeError>("diagonal", "needs two different dimensions of ", shape_, ", got ", dim0,
                     " and ", dim1);
  }
  const std::int64_t rows = shape_[dim0] + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns = shape_[dim1] - std::max<std::int64_t>(offset, 0);
  const std::int64_t length =
      std::max<std::int64_t>(std::min({rows, columns, shape_[dim0], shape_[dim1]}), 0);
  std::int64_t step = 0;
  // As in stretched(): no element is stepped over then.
  if (__builtin_add_overflow(strides_[dim0], strides_[dim1], &step)) step = 1;
  Shape shape = shape_;
  Shape strides = strides_;
  for (const std::int64_t dim : {std::max(dim0, dim1), std::min(dim0, dim1)}) {
    shape.erase(dim);
    strides.erase(dim);
  }
  shape.push_back(length);
  strides.push_back(step);
  Array out = window(std::move(shape), std::move(strides), offset_);
  if (out.numel_ == 0) return out;
  offset < 0 ? out.advance(-offset, strides_[dim0]) : out.advance(offset, strides_[dim1]);
  return out;
}

Array Array::unfold(std::int64_t dim, std::int64_t size, std::int64_t step) const {
  dim = wrap_dim("unfold", dim, rank());
  const std::int64_t length = rank() == 0 ? 1 : shape_[dim];
  if (size < 0 || size > length) {
    fail<ShapeError>("unfold", "windows of size ", size, " do not fit dimension ", dim, " of ",
                     shape_);
  }
  if (step < 1) fail<ShapeError>("unfold", "the step must be positive, got ", step);
  Shape shape = shape_;
  Shape strides = strides_;
  if (rank() > 0) {
    shape[dim] = (length - size) / step + 1;
    if (shape[dim] > 1) strides[dim] = stretched(strides[dim], step);
  }
  shape.push_back(size);
  strides.push_back(rank() == 0 ? 1 : strides_[dim]);
  return window(std::move(shape), std::move(strides), offset_);
}

Array Array::as_strided(const Shape& shape, const Shape& strides, std::int64_t offset) const {
  check_defined("as_strided");
  if (shape.rank() != strides.rank()) {
    fail<ShapeError>("as_strided", "shape ", shape, " and strides ", strides, " differ in length");
  }
  std::int64_t last = offset;
  bool fits = offset >= 0;
  const bool empty = element_count(shape) == 0;
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    std::int64_t reach = 0;
    fits = fits && strides[d] >= 0 &&
           (empty || (!__builtin_mul_overflow(shape[d] - 1, strides[d], &reach) &&
                      !__builtin_add_overflow(last, reach, &last)));
  }
  if (!fits || (!empty && last >= storage_->bytes() / item_size(dtype_))) {
    fail<ShapeError>("as_strided", "shape ", shape, ", strides ", strides, ", offset ", offset,
                     " leave a storage of ", storage_->bytes() / item_size(dtype_), " elements");
  }
  // A view without elements keeps its offset, since the new one may lie outside of the storage.
  return window(Shape(shape), Shape(strides), empty ? offset_ : offset);
}

}  // namespace tend
