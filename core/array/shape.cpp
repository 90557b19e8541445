#include <tend/core/array/shape.h>

#include <limits>
#include <ostream>

#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

namespace tend {

namespace {

// The capacity of a heap block, which is stored in front of its values.
std::int64_t& room_of(std::int64_t* values) noexcept {
  return values[-1];
}

}  // namespace

Shape::Heap Shape::allocate(std::size_t count) {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max() / sizeof(std::int64_t) - 1;
  if (count > kMax) fail<OutOfMemoryError>("shape", count, " dimensions do not fit in memory");
  auto* block = static_cast<std::int64_t*>(take_block((count + 1) * sizeof(std::int64_t)));
  Heap values(block + 1);
  room_of(values.get()) = static_cast<std::int64_t>(count);
  return values;
}

void Shape::GiveBack::operator()(std::int64_t* values) const noexcept {
  const auto count = static_cast<std::size_t>(room_of(values));
  give_block(values - 1, (count + 1) * sizeof(std::int64_t));
}

void Shape::copy_heap(const Shape& other) {
  // `other` may have shrunk, even to zero values. insert() doubles the number of values when the
  // block is full, so the block must not be empty.
  heap_ = allocate(std::max(size_, kInline));
  std::copy_n(other.heap_.get(), size_, heap_.get());
}

void Shape::insert(std::int64_t at, std::int64_t value) {
  if (rank() == (heap_ ? room_of(heap_.get()) : static_cast<std::int64_t>(kInline))) {
    // Doubles the capacity each time, so that n calls of push_back need time proportional to n.
    Heap larger = allocate(2 * size_);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
  }
  std::copy_backward(begin() + at, end(), end() + 1);
  data()[at] = value;
  ++size_;
}

void Shape::erase(std::int64_t at) noexcept {
  // A shape on the heap keeps its block when it shrinks.
  std::copy(begin() + at + 1, end(), begin() + at);
  --size_;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  if (shape.rank() == 1) text += ",";
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << to_string(shape);
}

void detail::fail_integer(const std::string& digits) {
  fail<IndexError>("integer", "int64 cannot hold ", digits);
}

void detail::fail_count(const Shape& shape) {
  for (const std::int64_t size : shape) {
    if (size < 0) fail<ShapeError>("shape", "negative size in ", shape);
  }
  fail<ShapeError>("shape", shape, " has more elements than an int64 can count");
}

void detail::fail_dim(std::string_view operation, std::int64_t dim, std::int64_t rank) {
  const std::int64_t dims = std::max<std::int64_t>(rank, 1);
  fail<IndexError>(operation, "dimension ", dim, " is out of range [", -dims, ", ", dims - 1,
                   "] for ", rank, " dimensions");
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = Shape::filled(shape.size(), 1);
  std::int64_t step = 1;
  for (std::int64_t d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = step;
    // Only the strides of an array without elements can overflow, and they are never used.
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(shape[d], 1), &step)) step = 1;
  }
  return strides;
}

Shape wrap_dims(std::string_view operation, const Shape& dims, std::int64_t rank) {
  Shape wrapped;
  if (dims.empty()) {
    for (std::int64_t d = 0; d < rank; ++d) wrapped.push_back(d);
    return wrapped;
  }
  for (const std::int64_t dim : dims) wrapped.push_back(wrap_dim(operation, dim, rank));
  std::sort(wrapped.begin(), wrapped.end());
  if (const auto* twice = std::adjacent_find(wrapped.begin(), wrapped.end());
      twice != wrapped.end()) {
    fail<ShapeError>(operation, "dimension ", *twice, " appears more than once in ", dims);
  }
  // A 0-d tensor accepts dimension 0, but has no dimension to reduce.
  return rank == 0 ? Shape{} : wrapped;
}

Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const std::int64_t rank = std::max(a.rank(), b.rank());
  Shape out = Shape::filled(static_cast<std::size_t>(rank), 1);
  for (std::int64_t d = 1; d <= rank; ++d) {
    const std::int64_t size_a = d <= a.rank() ? a[a.rank() - d] : 1;
    const std::int64_t size_b = d <= b.rank() ? b[b.rank() - d] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      fail<ShapeError>(operation, a, " and ", b, " do not broadcast: dimension ", -d, " is ",
                       size_a, " and ", size_b);
    }
    out[rank - d] = size_a == 1 ? size_b : size_a;
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) noexcept {
  if (from == to) return true;
  if (from.rank() > to.rank()) return false;
  for (std::int64_t d = 1; d <= from.rank(); ++d) {
    const std::int64_t size = from[from.rank() - d];
    if (size != 1 && size != to[to.rank() - d]) return false;
  }
  return true;
}

std::int64_t reduced_count(const Shape& shape, const Shape& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) {
    if (__builtin_mul_overflow(count, shape[d], &count)) return 0;
  }
  return count;
}

Shape unravel_index(std::int64_t element, const Shape& shape) {
  Shape index = Shape::filled(shape.size(), 0);
  for (std::int64_t d = shape.rank() - 1; d >= 0; --d) {
    index[d] = element % shape[d];
    element /= shape[d];
  }
  return index;
}

Shape inverse_permutation(const Shape& order) {
  Shape inverse = Shape::filled(order.size(), 0);
  for (std::int64_t d = 0; d < order.rank(); ++d) inverse[order[d]] = d;
  return inverse;
}

Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim) {
  Shape out = shape;
  for (std::int64_t i = dims.rank() - 1; i >= 0; --i) {
    if (keepdim) {
      out[dims[i]] = 1;
    } else {
      out.erase(dims[i]);
    }
  }
  return out;
}

}  // namespace tend
