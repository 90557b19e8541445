#include <tend/core/array/array.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tend/core/base/type_name.h>

namespace tend {
namespace {

// The offset of the last element relative to the first. The array must have elements, and strides
// are never negative.
std::int64_t last_offset(const Shape& shape, const Shape& strides) noexcept {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    // The stride of a dimension of size 1 is never used, so it can be any number.
    if (shape[d] > 1) last += (shape[d] - 1) * strides[d];
  }
  return last;
}

// The number of bytes that a view of borrowed memory spans.
std::int64_t bytes_seen(const Shape& shape, const Shape& strides, DType dtype) {
  if (element_count(shape) == 0) return 0;
  std::int64_t count = 1, bytes = 0;
  bool overflows = false;
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    std::int64_t span = 0;
    overflows |= __builtin_mul_overflow(shape[d] - 1, strides[d], &span) ||
                 __builtin_add_overflow(count, span, &count);
  }
  if (overflows || __builtin_mul_overflow(count, item_size(dtype), &bytes)) {
    fail<ShapeError>("from_blob", "strides ", strides, " of shape ", shape, ' ', dtype,
                     " span more bytes than an int64 can count");
  }
  return bytes;
}

bool is_row_major(const Shape& shape, const Shape& strides, std::int64_t numel) noexcept {
  if (numel == 0) return true;
  std::int64_t step = 1;
  for (std::int64_t d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

// The stride of `input`, broadcast to `shape`, along dimension `dim` of `shape`.
std::int64_t broadcast_stride(const Array& input, std::int64_t dim, const Shape& shape) noexcept {
  const std::int64_t own = dim - (shape.rank() - input.rank());
  if (own < 0 || (input.shape()[own] == 1 && shape[dim] != 1)) return 0;
  return input.strides()[own];
}

// 1 if the dimensions `inner` and `outer` should be swapped, -1 if not, 0 if no input determines
// their order. The rules are the same as in PyTorch's TensorIteratorBase::reorder_dimensions.
int compare_dims(std::int64_t inner, std::int64_t outer, const Shape& shape,
                 std::initializer_list<const Array*> inputs) noexcept {
  for (const Array* input : inputs) {
    const std::int64_t a = broadcast_stride(*input, inner, shape);
    const std::int64_t b = broadcast_stride(*input, outer, shape);
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b ? -1 : 1;
    if (shape[inner] > shape[outer]) return 1;
  }
  return 0;
}

// The strides of the array that Array::empty_like returns.
Shape elementwise_strides(const Shape& shape, std::initializer_list<const Array*> inputs) {
  Shape order;  // the dimensions, innermost first
  for (std::int64_t d = shape.rank() - 1; d >= 0; --d) order.push_back(d);
  // An insertion sort, because the comparison is not a total order if inputs are broadcast.
  for (std::int64_t i = 1; i < shape.rank(); ++i) {
    for (std::int64_t at = i, before = i - 1; before >= 0; --before) {
      const int found = compare_dims(order[before], order[at], shape, inputs);
      if (found < 0) break;
      if (found == 0) continue;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
  Shape strides = shape;
  std::int64_t step = 1;
  for (const std::int64_t d : order) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

}  // namespace

Array::Array(DType dtype, Shape&& shape, Shape&& strides, std::int64_t offset, Ref<Storage> storage)
    : dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      storage_(std::move(storage)) {
  count_elements();
}

// Computes numel_ and contiguous_ from the shape and the strides.
void Array::count_elements() {
  numel_ = element_count(shape_);
  contiguous_ = is_row_major(shape_, strides_, numel_);
}

Array Array::empty(const Shape& shape, DType dtype) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_count(shape), item_size(dtype), &bytes)) {
    fail<OutOfMemoryError>("empty", shape, ' ', dtype, " needs more bytes than an int64 can count");
  }
  return {dtype, Shape(shape), contiguous_strides(shape), 0, Storage::allocate(bytes)};
}

Array Array::empty_like(const Shape& shape, DType dtype,
                        std::initializer_list<const Array*> inputs) {
  Array out = empty(shape, dtype);
  for (const Array* input : inputs) {
    if (input->contiguous_) continue;
    out.strides_ = elementwise_strides(shape, inputs);
    out.contiguous_ = is_row_major(shape, out.strides_, out.numel_);
    break;
  }
  return out;
}

Array Array::layout(const Shape& shape) {
  return {float32, Shape(shape), contiguous_strides(shape), 0, {}};
}

Array Array::full(const Shape& shape, const Scalar& value, DType dtype) {
  Array out = empty(shape, dtype);
  out.fill(value);
  return out;
}

Array Array::copy_of(const void* values, std::int64_t count, const Shape& shape, DType dtype) {
  if (element_count(shape) != count)
    fail<ShapeError>("from", count, " values do not fill shape ", shape);
  Array out = empty(shape, dtype);
  if (count > 0) std::memcpy(out.raw(), values, static_cast<std::size_t>(count * item_size(dtype)));
  return out;
}

Array Array::from_blob(Borrowed memory, const Shape& shape, const Shape& strides, DType dtype) {
  if (shape.rank() != strides.rank()) {
    fail<ShapeError>("from_blob", "shape ", shape, " and strides ", strides, " differ in length");
  }
  for (const std::int64_t size : shape) {
    if (size < 0) fail<ShapeError>("from_blob", "negative size in ", shape);
  }
  for (const std::int64_t stride : strides) {
    if (stride < 0) fail<ShapeError>("from_blob", "negative stride in ", strides);
  }
  const std::int64_t bytes = bytes_seen(shape, strides, dtype);
  if (bytes > 0 && memory.data() == nullptr)
    fail<ShapeError>("from_blob", "the memory is null, but shape ", shape, " has elements");
  return {dtype, Shape(shape), Shape(strides), 0, Storage::borrow(std::move(memory), bytes)};
}

bool Array::may_self_overlap() const {
  if (numel_ < 2 || is_contiguous()) return false;
  Shape by_stride;
  for (std::int64_t d = 0; d < rank(); ++d) {
    if (shape_[d] > 1) by_stride.push_back(d);
  }
  std::sort(by_stride.begin(), by_stride.end(),
            [&](std::int64_t d, std::int64_t e) { return strides_[d] < strides_[e]; });
  // Each stride must exceed the largest offset that dimensions with smaller strides reach.
  std::int64_t reach = 0;
  for (const std::int64_t d : by_stride) {
    if (strides_[d] <= reach) return true;
    reach += (shape_[d] - 1) * strides_[d];
  }
  return false;
}

bool Array::is_dense() const {
  return contiguous_ || (!may_self_overlap() && last_offset(shape_, strides_) + 1 == numel_);
}

bool Array::has_layout_of(const Array& other) const noexcept {
  if (shape_ != other.shape_) return false;
  if (contiguous_ || other.contiguous_) return contiguous_ && other.contiguous_;
  for (std::int64_t d = 0; d < rank(); ++d) {
    if (shape_[d] > 1 && strides_[d] != other.strides_[d]) return false;
  }
  return true;
}

bool Array::may_overlap(const Array& other) const noexcept {
  if (!defined() || !other.defined() || numel_ == 0 || other.numel_ == 0) return false;
  const auto reach = [](const Array& a) {
    const auto* first = static_cast<const std::byte*>(a.raw());
    return std::pair(first, first + (last_offset(a.shape_, a.strides_) + 1) * item_size(a.dtype_));
  };
  const auto [begin, end] = reach(*this);
  const auto [other_begin, other_end] = reach(other);
  return std::less<>()(begin, other_end) && std::less<>()(other_begin, end);
}

void Array::check_defined(std::string_view operation) const {
  if (!defined()) fail(operation, "the array is undefined");
}

void Array::fail_dtype(std::string_view operation, DType wanted) const {
  fail<DTypeError>(operation, "the elements are ", dtype_, ", not ", wanted,
                   "; to(dtype) converts them");
}

void Array::fail_item_type(const Scalar& value, const std::type_info& type) const {
  const bool whole = value.dtype() == int64;
  fail<DTypeError>("item", "the element is ",
                   whole ? as_text(value.to<std::int64_t>()) : as_text(value.to<double>()),
                   ", which ", type_name(type), " cannot hold");
}

void Array::fail_item() const {
  fail<ShapeError>("item", "needs exactly one element, the shape is ", shape_);
}

DType result_type(std::initializer_list<const Array*> arrays) noexcept {
  DType dimensioned = boolean, numbers = boolean;
  for (const Array* each : arrays) {
    DType& kind = each->rank() == 0 ? numbers : dimensioned;
    kind = promote_types(kind, each->dtype());
  }
  if (dtype_category(numbers) <= dtype_category(dimensioned)) return dimensioned;
  return promote_types(dimensioned, numbers);
}

// Views have other shapes, strides and offsets, but the same storage.

namespace {

// stride * times, or `stride` if the product overflows int64. An overflow is possible only if the
// stride is never used, so any number is right.
std::int64_t stretched(std::int64_t stride, std::int64_t times) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(stride, times, &product) ? stride : product;
}

}  // namespace

Array Array::window(Shape&& shape, Shape&& strides, std::int64_t offset) const {
  return {dtype_, std::move(shape), std::move(strides), offset, storage_};
}

// Moves the offset to `position` of a dimension that has `stride`. An array without elements keeps
// its offset, since its strides can be any numbers.
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
    fail<IndexError>("narrow", "start ", start, " with length ", length, " exceeds dimension ", dim,
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
    fail<ShapeError>("permute", "needs each of the ", rank(), " dimensions of ", shape_,
                     " once, got ", dims);
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
                       d - wanted.rank(), " cannot change from ", size, " to ", shape[d]);
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
                     unknown >= 0 && count == 0 ? ": -1 is ambiguous next to a size of 0" : "");
  }
  return known;
}

std::optional<Shape> view_strides(const Shape& shape, const Shape& strides, const Shape& wanted) {
  if (element_count(shape) == 0) return contiguous_strides(wanted);
  Shape out = Shape::filled(wanted.size(), 0);
  std::int64_t to = wanted.rank() - 1;
  // Starting at the last dimension, find runs of dimensions whose elements are evenly spaced. For
  // each run, the product of some wanted sizes must be the number of the run's elements.
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
    fail<ShapeError>("view", shape_, " with strides ", strides_, " cannot be viewed as ", shape,
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
  // As in stretched(): if the sum overflows, the stride is never used.
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
                     " reach beyond a storage of ", storage_->bytes() / item_size(dtype_),
                     " elements");
  }
  // A view without elements keeps its offset, since the new offset may be outside of the storage.
  return window(Shape(shape), Shape(strides), empty ? offset_ : offset);
}

}  // namespace tend
