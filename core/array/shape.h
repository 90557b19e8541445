// Shapes and strides: a short vector of int64 that needs no heap memory for usual ranks.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <tend/core/base/strict.h>

namespace tend {

/// Sizes or strides, one int64 for each dimension. The object itself stores up to kInline of them.
class Shape {
 public:
  using value_type = std::int64_t;
  static constexpr std::size_t kInline = 6;

  Shape() noexcept = default;
  /// A shape with the sizes in braces: {2, 3}.
  ///
  /// Throws: IndexError - int64 cannot represent an integer
  Shape(std::initializer_list<Integer> values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  /// A shape with one dimension, as in x.view(-1) or zeros(n).
  ///
  /// Throws: IndexError - int64 cannot represent the integer
  template <std::integral T>
  requires(!std::same_as<T, bool>) Shape(T size) : Shape{Integer(size)} {}
  Shape(std::span<const std::int64_t> values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  /// A shape with the numbers of a vector, a span or an array.
  ///
  /// Throws: IndexError - int64 cannot represent an integer
  template <detail::Integers L>
  Shape(const L& values) {
    resize(values.size());
    std::transform(values.begin(), values.end(), begin(),
                   [](auto value) { return Integer(value); });
  }
  /// A shape of `count` dimensions, each of size `value`.
  static Shape filled(std::size_t count, std::int64_t value) {
    Shape shape;
    shape.resize(count);
    std::fill(shape.begin(), shape.end(), value);
    return shape;
  }

  Shape(const Shape& other) : inline_(other.inline_), size_(other.size_) {
    if (other.heap_) [[unlikely]]
      copy_heap(other);
  }
  Shape(Shape&& other) noexcept
      : inline_(other.inline_),
        heap_(std::move(other.heap_)),
        size_(std::exchange(other.size_, 0)) {}
  Shape& operator=(const Shape& other) {
    if (this != &other) *this = Shape(other);
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) {
      heap_ = std::move(other.heap_);
      inline_ = other.inline_;
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~Shape() = default;

  std::size_t size() const noexcept { return size_; }
  std::int64_t rank() const noexcept { return static_cast<std::int64_t>(size_); }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t* data() noexcept { return heap_ ? heap_.get() : inline_.data(); }
  const std::int64_t* data() const noexcept { return heap_ ? heap_.get() : inline_.data(); }
  std::int64_t* begin() noexcept { return data(); }
  std::int64_t* end() noexcept { return data() + size_; }
  const std::int64_t* begin() const noexcept { return data(); }
  const std::int64_t* end() const noexcept { return data() + size_; }
  std::int64_t& operator[](std::size_t i) noexcept { return data()[i]; }
  std::int64_t operator[](std::size_t i) const noexcept { return data()[i]; }
  std::int64_t& operator[](std::int64_t i) noexcept { return data()[i]; }
  std::int64_t operator[](std::int64_t i) const noexcept { return data()[i]; }
  std::int64_t& operator[](int i) noexcept { return data()[i]; }
  std::int64_t operator[](int i) const noexcept { return data()[i]; }
  std::int64_t back() const noexcept { return data()[size_ - 1]; }
  operator std::span<const std::int64_t>() const noexcept { return {data(), size_}; }

  void push_back(std::int64_t value) {
    if (size_ < kInline && !heap_) [[likely]] {
      inline_[size_++] = value;
    } else {
      insert(rank(), value);
    }
  }
  /// Inserts `value` before position `at`, which must be in [0, rank].
  void insert(std::int64_t at, std::int64_t value);
  /// Removes position `at`, which must be in [0, rank).
  void erase(std::int64_t at) noexcept;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.size_ != b.size_) return false;
    const std::int64_t *x = a.data(), *y = b.data();
    std::int64_t differences = 0;
    for (std::size_t i = 0; i < a.size_; ++i) differences |= x[i] ^ y[i];
    return differences == 0;
  }

 private:
  struct GiveBack {  // gives a heap block back to the pool
    void operator()(std::int64_t* values) const noexcept;
  };
  using Heap = std::unique_ptr<std::int64_t[], GiveBack>;

  static Heap allocate(std::size_t count);  // a block for `count` values; it stores its capacity
  void resize(std::size_t count) {
    if (count > kInline) [[unlikely]]
      heap_ = allocate(count);
    size_ = count;
  }
  void copy_heap(const Shape& other);

  std::array<std::int64_t, kInline> inline_{};  // always copied as a whole, which needs no branch
  Heap heap_;
  std::size_t size_ = 0;
};

/// The shape as Python prints a tuple: "(2, 3)", "(3,)" or "()".
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

namespace detail {
[[noreturn]] void fail_count(const Shape& shape);
[[noreturn]] void fail_dim(std::string_view operation, std::int64_t dim, std::int64_t rank);
}  // namespace detail

/// The product of the sizes; 1 for a 0-d shape.
///
/// Throws:
///   ShapeError - a size is negative
///   ShapeError - the product overflows int64
inline std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1, smallest = 1;
  bool overflows = false;
  for (const std::int64_t size : shape) {
    smallest = std::min(smallest, size);
    overflows |= __builtin_mul_overflow(count, size, &count);
  }
  if (smallest < 0 || (overflows && smallest > 0)) [[unlikely]]
    detail::fail_count(shape);
  return smallest == 0 ? 0 : count;
}

/// The row-major strides of `shape`. The stride of the last dimension is 1.
Shape contiguous_strides(const Shape& shape);

/// `dim` as a number that is not negative. A negative `dim` counts from the end.
///
/// A 0-d shape accepts the dimensions -1 and 0.
///
/// Throws: IndexError - `dim` is out of range; the message names `operation`
inline std::int64_t wrap_dim(std::string_view operation, std::int64_t dim, std::int64_t rank) {
  const std::int64_t dims = std::max<std::int64_t>(rank, 1);
  if (dim < -dims || dim >= dims) [[unlikely]]
    detail::fail_dim(operation, dim, rank);
  return dim < 0 ? dim + dims : dim;
}

/// `dims`, wrapped and sorted; all dimensions if `dims` is empty.
///
/// Throws:
///   IndexError - a dimension is out of range
///   ShapeError - a dimension appears twice
Shape wrap_dims(std::string_view operation, const Shape& dims, std::int64_t rank);

/// The shape to which two shapes broadcast, by NumPy's rules.
///
/// Throws: ShapeError - the shapes do not broadcast; the message names both shapes and the
///                      dimension
Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b);

/// The leading dimensions of a stack of matrices, which are all but the last two.
inline Shape leading_shape(const Shape& stack) {
  return Shape(std::span(stack).first(stack.size() - 2));
}
/// The shape of a stack of matrices with the given leading dimensions, rows and columns.
inline Shape with_matrix(Shape leading, std::int64_t rows, std::int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

/// True if a tensor of shape `from` can be expanded to `to`.
bool broadcasts_to(const Shape& from, const Shape& to) noexcept;

/// The number of elements that a reduction over `dims` (wrapped, unique) combines into one result.
///
/// 0 if the number overflows int64, which is possible only for arrays without elements.
std::int64_t reduced_count(const Shape& shape, const Shape& dims);

/// The index of element number `element`, in row-major order, along each dimension of `shape`.
Shape unravel_index(std::int64_t element, const Shape& shape);

/// The permutation that undoes the permutation `order`.
Shape inverse_permutation(const Shape& order);

/// `shape` without the dimensions `dims` (wrapped, unique). With `keepdim` they have size 1
/// instead.
Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim);

}  // namespace tend
