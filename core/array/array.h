// Array: a strided view of shared memory. It knows nothing of gradients.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include <tend/core/array/dtype.h>
#include <tend/core/array/scalar.h>
#include <tend/core/array/shape.h>
#include <tend/core/base/type_name.h>
#include <tend/core/memory/storage.h>

namespace tend {

/// dtype, shape, strides (in elements), offset and a shared Storage. Copying an Array copies the
/// view, not the elements; a default-constructed one is undefined and has no Storage.
class Array {
 public:
  Array() = default;

  /// Uninitialised elements, row-major.
  static Array empty(const Shape& shape, DType dtype);
  /// Uninitialised elements of `shape`, to which the inputs broadcast, as PyTorch lays out the
  /// result of an elementwise operation: their dimensions lie in memory without gaps, in the order
  /// of the first input that tells it. So a loop over transposed inputs and their result is flat.
  static Array empty_like(const Shape& shape, DType dtype,
                          std::initializer_list<const Array*> inputs);
  /// The same for one input, with its shape and dtype.
  static Array empty_like(const Array& input) {
    return empty_like(input.shape_, input.dtype_, {&input});
  }
  /// Every element `value`.
  static Array full(const Shape& shape, const Scalar& value, DType dtype);
  static Array zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
  /// A 0-d array.
  static Array scalar(const Scalar& value, DType dtype) { return full({}, value, dtype); }
  /// A row-major copy of `values`, whose number must fit the shape (ShapeError).
  template <class T>
  static Array from(std::span<const T> values, const Shape& shape) {
    return copy_of(values.data(), static_cast<std::int64_t>(values.size()), shape, dtype_of<T>());
  }
  /// A view of borrowed memory; sizes and strides must not be negative (ShapeError). The deleter is
  /// called when the last view is destroyed, or at once when this throws.
  static Array from_blob(Borrowed memory, const Shape& shape, const Shape& strides, DType dtype);
  static Array from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                         Borrowed::Deleter deleter = {}) {
    return from_blob(Borrowed(data, std::move(deleter)), shape, strides, dtype);
  }

  /// A row-major array without memory. Its views have the shape, strides and offset that the same
  /// views of an array with memory have.
  static Array layout(const Shape& shape);

  bool defined() const noexcept { return static_cast<bool>(storage_); }
  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const Shape& strides() const noexcept { return strides_; }
  std::int64_t offset() const noexcept { return offset_; }
  std::int64_t rank() const noexcept { return shape_.rank(); }
  /// IndexError for a dimension that does not exist.
  std::int64_t size(std::int64_t dim) const {
    if (rank() == 0) fail<IndexError>("size", "a 0-d tensor has no dimensions");
    return shape_[wrap_dim("size", dim, rank())];
  }
  std::int64_t numel() const noexcept { return numel_; }
  const Ref<Storage>& storage() const noexcept { return storage_; }

  /// First element; T must be the element type (DTypeError).
  template <class T>
  T* data() const {
    if (dtype_ != dtype_of<T>()) fail_dtype("data", dtype_of<T>());
    return reinterpret_cast<T*>(raw());
  }
  /// First element, untyped; nullptr when undefined.
  void* raw() const noexcept {
    return storage_ ? storage_->data() + offset_ * item_size(dtype_) : nullptr;
  }

  /// True when the elements lie row-major without gaps.
  bool is_contiguous() const noexcept { return contiguous_; }
  /// True when the elements lie without gaps and overlaps, in whatever order of the dimensions.
  bool is_dense() const;
  /// True when the elements of both, which have one shape, lie in memory in the same way.
  bool has_layout_of(const Array& other) const noexcept;
  /// True when two indices may name the same element (an expanded dimension, for example).
  bool may_self_overlap() const;
  /// True when the memory ranges of the two overlap.
  bool may_overlap(const Array& other) const noexcept;

  // Views: they share the storage, and are PyTorch's in meaning and in what they refuse.

  Array select(std::int64_t dim, std::int64_t index) const;
  /// Elements start, start + step, ... before stop along `dim`; Python's clamping and negative
  /// indices, step > 0.
  Array slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
              std::int64_t step = 1) const;
  Array narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  Array transpose(std::int64_t dim0, std::int64_t dim1) const;
  Array permute(const Shape& dims) const;
  /// -1 keeps a size; new dimensions come in front.
  Array expand(const Shape& wanted) const;
  /// One size may be -1. ShapeError when the shape needs a copy.
  Array view(const Shape& wanted) const;
  Array squeeze() const;
  Array squeeze(std::int64_t dim) const;
  Array squeeze(const Shape& dims) const;
  Array unsqueeze(std::int64_t dim) const;
  Array diagonal(std::int64_t offset = 0, std::int64_t dim0 = 0, std::int64_t dim1 = 1) const;
  /// Sliding windows of `size` elements along `dim`, each `step` after the one before; their
  /// elements are a new last dimension. ShapeError if not even one fits.
  Array unfold(std::int64_t dim, std::int64_t size, std::int64_t step) const;
  /// Any strided view of the storage; ShapeError if it reaches beyond the storage.
  Array as_strided(const Shape& shape, const Shape& strides, std::int64_t offset) const;

  // Copies.

  /// A view where the strides allow one, otherwise a row-major copy.
  Array reshape(const Shape& wanted) const;
  /// Itself when row-major, otherwise a row-major copy.
  Array contiguous() const;
  /// A row-major copy.
  Array clone() const;
  /// Itself when the dtype is the same, otherwise a converted copy with empty_like's layout.
  Array to(DType dtype) const { return dtype == dtype_ ? *this : converted(dtype); }
  /// Writes `source`, broadcast and converted, into these elements. ShapeError when it does not
  /// fit.
  void copy_from(const Array& source) const;
  void fill(const Scalar& value) const;

  /// The only element as a T: the whole part of a floating number for an integer T, "not zero" for
  /// bool. ShapeError unless there is exactly one element, DTypeError where T cannot hold it.
  template <class T>
  T item() const {
    if (numel_ != 1) fail_item();
    return visit_dtype(dtype_, [&](auto tag) {
      const auto value = *reinterpret_cast<const typename decltype(tag)::type*>(raw());
      if (!holds<T>(value)) [[unlikely]]
        fail_item_type(value, typeid(T));
      if constexpr (std::is_same_v<T, bool>) {
        return convert<bool>(value);
      } else {
        return static_cast<T>(value);
      }
    });
  }
  /// All elements in row-major order; T must be the element type (DTypeError), or an integer of
  /// another size for int64 (IndexError for an element that it cannot hold).
  template <class T>
  std::vector<T> to_vector() const {
    if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, std::int64_t>) {
      std::vector<T> out;
      for (const std::int64_t value : to_vector<std::int64_t>()) {
        if (!std::in_range<T>(value))
          fail<IndexError>("to_vector", value, " is out of the range of ", type_name(typeid(T)));
        out.push_back(static_cast<T>(value));
      }
      return out;
    } else {
      const Array dense = contiguous();
      const T* first = dense.data<T>();
      return std::vector<T>(first, first + numel_);
    }
  }

 private:
  Array(DType dtype, Shape&& shape, Shape&& strides, std::int64_t offset, Ref<Storage> storage);
  Array converted(DType dtype) const;
  void check_defined(std::string_view operation) const;
  static Array copy_of(const void* values, std::int64_t count, const Shape& shape, DType dtype);
  Array window(Shape&& shape, Shape&& strides, std::int64_t offset) const;
  void count_elements();
  void advance(std::int64_t position, std::int64_t stride) noexcept;
  [[noreturn]] void fail_dtype(std::string_view operation, DType wanted) const;
  [[noreturn]] void fail_item() const;
  [[noreturn]] void fail_item_type(const Scalar& value, const std::type_info& type) const;

  DType dtype_ = float32;
  bool contiguous_ = true;
  Shape shape_;
  Shape strides_;
  std::int64_t offset_ = 0;
  std::int64_t numel_ = 0;
  Ref<Storage> storage_;
};

/// `shape` with its one -1 (if any) replaced so that the sizes multiply to `numel`; ShapeError
/// naming `operation`.
Shape infer_shape(std::string_view operation, const Shape& shape, std::int64_t numel);

/// Strides with which the elements of (shape, strides) have the shape `wanted`; nullopt if that
/// needs a copy.
std::optional<Shape> view_strides(const Shape& shape, const Shape& strides, const Shape& wanted);

/// PyTorch's result_type: a 0-d array gives way to a dimensioned one of the same category (bool <
/// integer < floating).
DType result_type(std::initializer_list<const Array*> arrays) noexcept;
/// The same of two.
inline DType result_type(const Array& a, const Array& b) noexcept {
  return a.dtype() == b.dtype() ? a.dtype() : result_type({&a, &b});
}

}  // namespace tend
