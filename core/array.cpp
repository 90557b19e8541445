#include <tend/core/array.h>

#include <cstring>
#include <utility>

#include <tend/core/kernels/copy.h>

namespace tend {
namespace {

struct Extent {
  std::int64_t low;   // smallest element offset, relative to the first element
  std::int64_t high;  // largest
};

Extent extent(const Shape& shape, const Shape& strides) {
  Extent reach{0, 0};
  for (std::int64_t d = 0; d < shape.rank(); ++d) {
    const std::int64_t span = (shape[d] - 1) * strides[d];
    (span < 0 ? reach.low : reach.high) += span;
  }
  return reach;
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

}  // namespace

Array::Array(DType dtype, Shape&& shape, Shape&& strides, std::int64_t offset, Ref<Storage> storage)
    : dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      storage_(std::move(storage)) {
  count_elements();
}

// What follows from the shape and the strides.
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

Array Array::from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                       std::function<void(void*)> deleter) {
  if (shape.rank() != strides.rank()) {
    fail<ShapeError>("from_blob", "shape ", shape, " and strides ", strides, " differ in length");
  }
  const std::int64_t count = element_count(shape);
  for (const std::int64_t stride : strides) {
    if (stride < 0) fail<ShapeError>("from_blob", "negative stride in ", strides);
  }
  const std::int64_t bytes = count == 0 ? 0 : (extent(shape, strides).high + 1) * item_size(dtype);
  return {dtype, Shape(shape), Shape(strides), 0, Storage::borrow(data, bytes, std::move(deleter))};
}

bool Array::may_self_overlap() const noexcept {
  if (numel_ < 2 || is_contiguous()) return false;
  // Sorted by stride, each dimension must step over all that the smaller ones reach.
  Shape order;
  for (std::int64_t d = 0; d < rank(); ++d) {
    if (shape_[d] > 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return strides_[a] < strides_[b]; });
  std::int64_t reach = 0;
  for (const std::int64_t d : order) {
    if (strides_[d] <= reach) return true;
    reach += (shape_[d] - 1) * strides_[d];
  }
  return false;
}

bool Array::may_overlap(const Array& other) const noexcept {
  if (!defined() || !other.defined() || numel_ == 0 || other.numel_ == 0) return false;
  const auto reach = [](const Array& a) {
    const Extent e = extent(a.shape_, a.strides_);
    const auto* first = static_cast<const std::byte*>(a.raw());
    return std::pair(first + e.low * item_size(a.dtype_),
                     first + (e.high + 1) * item_size(a.dtype_));
  };
  const auto [begin, end] = reach(*this);
  const auto [other_begin, other_end] = reach(other);
  return std::less<>()(begin, other_end) && std::less<>()(other_begin, end);
}

Array Array::contiguous() const {
  return is_contiguous() ? *this : clone();
}

Array Array::clone() const {
  Array out = empty(shape_, dtype_);
  out.copy_from(*this);
  return out;
}

Array Array::converted(DType dtype) const {
  Array out = empty(shape_, dtype);
  out.copy_from(*this);
  return out;
}

void Array::copy_from(const Array& source) const {
  if (!broadcasts_to(source.shape_, shape_)) {
    fail<ShapeError>("copy", "source ", source.shape_, " does not broadcast to ", shape_);
  }
  // Elements that would be read after they are overwritten are read from a copy.
  const bool same_window = raw() == source.raw() && shape_ == source.shape_ &&
                           strides_ == source.strides_ && dtype_ == source.dtype_;
  const bool aliased = !same_window && may_overlap(source);
  if (!aliased && source.shape_ == shape_) return kernels::copy(*this, source);
  kernels::copy(*this, (aliased ? source.clone() : source).expand(shape_));
}

void Array::fill(const Scalar& value) const {
  if (numel_ == 1) {
    return visit_dtype(dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(raw()) = value.to<T>();
    });
  }
  kernels::fill(*this, value);
}

void Array::fail_dtype(std::string_view operation, DType wanted) const {
  fail<DTypeError>(operation, "the elements are ", dtype_, ", not ", wanted);
}

void Array::fail_item() const {
  fail<ShapeError>("item", "needs exactly one element, the shape is ", shape_);
}

DType result_type(std::initializer_list<const Array*> arrays) noexcept {
  const auto category = [](DType dtype) { return is_floating(dtype) ? 2 : dtype == int64 ? 1 : 0; };
  DType dimensioned = boolean, numbers = boolean;
  for (const Array* each : arrays) {
    DType& kind = each->rank() == 0 ? numbers : dimensioned;
    kind = promote_types(kind, each->dtype());
  }
  if (category(numbers) <= category(dimensioned)) return dimensioned;
  return promote_types(dimensioned, numbers);
}

}  // namespace tend
