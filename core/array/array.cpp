#include <tend/core/array/array.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tend/core/base/type_name.h>

namespace tend {
namespace {

// The offset of the last element, relative to the first, of an array that has elements: strides are
// not negative.
std::int64_t last_offset(const Shape& shape, const Shape& strides) noexcept {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    // No element is stepped over along a dimension of size 1, so its stride can be any number.
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
                     " lead beyond what an int64 can count");
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

// The stride with which an input that is broadcast to `shape` goes along dimension `dim` of it.
std::int64_t broadcast_stride(const Array& input, std::int64_t dim, const Shape& shape) noexcept {
  const std::int64_t own = dim - (shape.rank() - input.rank());
  if (own < 0 || (input.shape()[own] == 1 && shape[dim] != 1)) return 0;
  return input.strides()[own];
}

// Whether dimension `outer` should lie inside `inner` instead: 1 if so, -1 if not, 0 if no input
// tells. The rules are those of TensorIteratorBase::reorder_dimensions in PyTorch.
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

// The strides of Array::empty_like.
Shape elementwise_strides(const Shape& shape, std::initializer_list<const Array*> inputs) {
  Shape order;  // the dimensions, innermost first
  for (std::int64_t d = shape.rank() - 1; d >= 0; --d) order.push_back(d);
  // By insertion, as the comparison is no total order where inputs are broadcast.
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

// Sets the members that follow from the shape and the strides.
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
    fail<ShapeError>("from_blob", "no memory for the elements of shape ", shape);
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
  // Each stride must exceed the largest offset that the smaller ones reach.
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

}  // namespace tend
