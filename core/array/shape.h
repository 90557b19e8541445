// Shapes and strides: a short vector of int64 that needs no heap for the usual rank.
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

/// Sizes or strides, one int64 per dimension. Up to `kInline` of them are stored inside the object.
class Shape {
 public:
  using value_type = std::int64_t;
  static constexpr std::size_t kInline = 6;

  Shape() noexcept = default;
  /// IndexError for an integer that int64 cannot hold.
  Shape(std::initializer_list<Integer> values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  /// One dimension: x.view(-1), zeros(n). IndexError as above.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Shape(T size) : Shape{Integer(size)} {}
  Shape(std::span<const std::int64_t> values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), begin());
  }
  /// The numbers of a vector, a span or an array; IndexError for one that int64 cannot hold.
  template <detail::Integers L>
  Shape(const L& values) {
    resize(values.size());
    std::transform(values.begin(), values.end(), begin(),
                   [](auto value) { return Integer(value); });
  }
  /// `count` copies of `value`.
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
  /// Inserts before position `at`, which must lie in [0, rank].
  void insert(std::int64_t at, std::int64_t value);
  /// Removes position `at`, which must lie in [0, rank).
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

  static Heap allocate(std::size_t count);  // a block for so many values; it stores its capacity
  void resize(std::size_t count) {
    if (count > kInline) [[unlikely]]
      heap_ = allocate(count);
    size_ = count;
  }
  void copy_heap(const Shape& other);

  std::array<std::int64_t, kInline> inline_{};  // copied as a whole: a few moves, no branch
  Heap heap_;
  std::size_t size_ = 0;
};

/// "(2, 3)", "(3,)" and "()", as Python prints tuples.
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

namespace detail {
[[noreturn]] void fail_count(const Shape& shape);
[[noreturn]] void fail_dim(std::string_view operation, std::int64_t dim, std::int64_t rank);
}  // namespace detail

/// Product of the sizes; 1 for a 0-d shape. Throws ShapeError for a negative size and when the
/// product overflows int64.
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

/// Row-major strides (the last dimension moves by one).
Shape contiguous_strides(const Shape& shape);

/// The non-negative form of `dim`, which may count from the end; IndexError naming `operation` when
/// out of range. A 0-d shape takes dimensions -1 and 0.
inline std::int64_t wrap_dim(std::string_view operation, std::int64_t dim, std::int64_t rank) {
  const std::int64_t dims = std::max<std::int64_t>(rank, 1);
  if (dim < -dims || dim >= dims) [[unlikely]]
    detail::fail_dim(operation, dim, rank);
  return dim < 0 ? dim + dims : dim;
}

/// `dims`, wrapped, sorted and free of duplicates (those throw); all of them when `dims` is empty.
Shape wrap_dims(std::string_view operation, const Shape& dims, std::int64_t rank);

/// NumPy's broadcasting of two shapes; ShapeError with both shapes and the dimension when they do
/// not fit.
Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b);

/// Of a stack of matrices: the dimensions before the last two.
inline Shape leading_shape(const Shape& stack) {
  return Shape(std::span(stack).first(stack.size() - 2));
}
/// The shape of a stack of matrices, given its leading dimensions.
inline Shape with_matrix(Shape leading, std::int64_t rows, std::int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

/// True when a tensor of shape `from` expands to `to`.
bool broadcasts_to(const Shape& from, const Shape& to) noexcept;

/// How many elements of an array of that shape go into one result when `dims` (wrapped, unique) are
/// reduced. 0 if that overflows int64, which is possible only for arrays without elements.
std::int64_t reduced_count(const Shape& shape, const Shape& dims);

/// The indices of element number `element`, counted row-major, of an array of that shape.
Shape unravel_index(std::int64_t element, const Shape& shape);

/// The permutation that undoes `order`, which names every dimension once.
Shape inverse_permutation(const Shape& order);

/// `shape` with the given dimensions (wrapped, unique) removed, or kept as 1.
Shape reduced_shape(const Shape& shape, const Shape& dims, bool keepdim);

}  // namespace tend
