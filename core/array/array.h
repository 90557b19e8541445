// Array: a strided view of shared memory, without gradients.
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

/// A view of a shared Storage: its dtype and shape, and its strides and offset in elements.
///
/// Copying an Array copies the view, not the elements. A default-constructed Array is undefined and
/// has no Storage.
class Array {
 public:
  Array() = default;

  /// A row-major array with uninitialised elements.
  static Array empty(const Shape& shape, DType dtype);
  /// An array with uninitialised elements and the memory layout that PyTorch chooses for the result
  /// of an elementwise operation. The inputs must broadcast to `shape`.
  ///
  /// The elements are in memory without gaps. The order of the dimensions in memory is taken from
  /// the first input that determines it. So a loop over transposed inputs and their result can run
  /// through the memory from the beginning to the end.
  static Array empty_like(const Shape& shape, DType dtype,
                          std::initializer_list<const Array*> inputs);
  /// An array with the input's shape and dtype, laid out by the rule of the overload above.
  static Array empty_like(const Array& input) {
    return empty_like(input.shape_, input.dtype_, {&input});
  }
  /// A row-major array in which every element is `value`.
  static Array full(const Shape& shape, const Scalar& value, DType dtype);
  static Array zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
  /// A 0-d array with the element `value`.
  static Array scalar(const Scalar& value, DType dtype) { return full({}, value, dtype); }
  /// A row-major array of `shape` with a copy of `values`.
  ///
  /// Throws: ShapeError - `shape` has another number of elements
  template <class T>
  static Array from(std::span<const T> values, const Shape& shape) {
    return copy_of(values.data(), static_cast<std::int64_t>(values.size()), shape, dtype_of<T>());
  }
  /// A view of borrowed memory. The deleter is called when the last view is destroyed, or at once
  /// if from_blob throws.
  ///
  /// Throws:
  ///   ShapeError - `shape` and `strides` differ in length
  ///   ShapeError - a size or a stride is negative
  ///   ShapeError - the view spans more bytes than an int64 can count
  ///   ShapeError - `memory` is null, but `shape` has elements
  static Array from_blob(Borrowed memory, const Shape& shape, const Shape& strides, DType dtype);
  static Array from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                         Borrowed::Deleter deleter = {}) {
    return from_blob(Borrowed(data, std::move(deleter)), shape, strides, dtype);
  }

  /// A row-major array without memory. Its views have the same shape, strides and offset as the
  /// views of an array with memory.
  static Array layout(const Shape& shape);

  bool defined() const noexcept { return static_cast<bool>(storage_); }
  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const Shape& strides() const noexcept { return strides_; }
  std::int64_t offset() const noexcept { return offset_; }
  std::int64_t rank() const noexcept { return shape_.rank(); }
  /// The size of dimension `dim`, which may be negative to count from the end.
  ///
  /// Throws: IndexError - the dimension does not exist
  std::int64_t size(std::int64_t dim) const {
    if (rank() == 0) fail<IndexError>("size", "a 0-d tensor has no dimensions");
    return shape_[wrap_dim("size", dim, rank())];
  }
  std::int64_t numel() const noexcept { return numel_; }
  const Ref<Storage>& storage() const noexcept { return storage_; }

  /// A pointer to the first element.
  ///
  /// Throws: DTypeError - T is not the element type
  template <class T>
  T* data() const {
    if (dtype_ != dtype_of<T>()) fail_dtype("data", dtype_of<T>());
    return reinterpret_cast<T*>(raw());
  }
  /// An untyped pointer to the first element; nullptr if the array is undefined.
  void* raw() const noexcept {
    return storage_ ? storage_->data() + offset_ * item_size(dtype_) : nullptr;
  }

  /// True if the elements are in row-major order in memory, without gaps.
  bool is_contiguous() const noexcept { return contiguous_; }
  /// True if the elements are in memory without gaps and overlaps, for any order of the dimensions.
  bool is_dense() const;
  /// True if both arrays have the same shape, and their elements are arranged in memory in the same
  /// way.
  bool has_layout_of(const Array& other) const noexcept;
  /// True if two indices may refer to the same element, as in an expanded dimension.
  bool may_self_overlap() const;
  /// True if the memory ranges of the two arrays overlap.
  bool may_overlap(const Array& other) const noexcept;

  // These functions return views, which share this array's storage. They accept and refuse the same
  // arguments as PyTorch's functions of the same names, and have the same meaning.

  /// The elements at `index` of dimension `dim`, without this dimension.
  ///
  /// A negative `index` counts from the end.
  ///
  /// Throws: IndexError - `dim` or `index` is out of range, or the array is 0-d
  Array select(std::int64_t dim, std::int64_t index) const;
  /// The elements at the positions start, start + step, ... before `stop` along `dim`.
  ///
  /// `start` and `stop` may be negative and are clamped, as in a slice in Python.
  ///
  /// Throws: IndexError - `dim` is out of range, `step` is not positive, or the array is 0-d
  Array slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
              std::int64_t step = 1) const;
  /// `length` elements along `dim`, beginning at `start`.
  ///
  /// A negative `start` counts from the end.
  ///
  /// Throws:
  ///   IndexError - `dim` is out of range, or the array is 0-d
  ///   IndexError - `start` or `length` is out of range
  Array narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const;
  /// Swaps two dimensions.
  ///
  /// Throws: IndexError - a dimension is out of range
  Array transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// Reorders the dimensions. Dimension d of the result is dimension dims[d] of this array.
  ///
  /// Throws:
  ///   IndexError - a dimension is out of range
  ///   ShapeError - a dimension is missing or appears twice
  Array permute(const Shape& dims) const;
  /// Repeats dimensions of size 1, without a copy. A size of -1 leaves the size unchanged. New
  /// dimensions are added in front.
  ///
  /// Throws: ShapeError - the array does not expand to `wanted`
  Array expand(const Shape& wanted) const;
  /// The same elements with another shape. One size may be -1; it is computed from the others.
  ///
  /// Throws:
  ///   ShapeError - more than one size is -1
  ///   ShapeError - the elements do not fill the shape
  ///   ShapeError - the shape would need a copy
  Array view(const Shape& wanted) const;
  /// Removes all dimensions of size 1.
  Array squeeze() const;
  /// Removes dimension `dim` if its size is 1.
  ///
  /// Throws: IndexError - `dim` is out of range
  Array squeeze(std::int64_t dim) const;
  /// Removes each dimension in `dims` whose size is 1.
  ///
  /// Throws:
  ///   IndexError - a dimension is out of range
  ///   ShapeError - a dimension appears twice
  Array squeeze(const Shape& dims) const;
  /// Inserts a dimension of size 1 at position `dim`, from -rank() - 1 to rank().
  ///
  /// Throws: IndexError - `dim` is out of range
  Array unsqueeze(std::int64_t dim) const;
  /// The diagonal of `dim0` and `dim1`, as a new last dimension that replaces both.
  ///
  /// A positive `offset` is above the main diagonal, a negative one is below it.
  ///
  /// Throws:
  ///   IndexError - a dimension is out of range
  ///   ShapeError - `dim0` and `dim1` are the same dimension
  Array diagonal(std::int64_t offset = 0, std::int64_t dim0 = 0, std::int64_t dim1 = 1) const;
  /// Sliding windows of `size` elements along `dim`. Each window starts `step` elements after the
  /// previous one. The elements of a window are a new last dimension.
  ///
  /// Throws:
  ///   IndexError - `dim` is out of range
  ///   ShapeError - a window does not fit into the dimension
  ///   ShapeError - `step` is not positive
  Array unfold(std::int64_t dim, std::int64_t size, std::int64_t step) const;
  /// A strided view of the storage, with any shape, strides and offset.
  ///
  /// Throws:
  ///   Error      - the array is undefined
  ///   ShapeError - `shape` and `strides` differ in length
  ///   ShapeError - `offset` or a stride is negative
  ///   ShapeError - the view reaches beyond the storage
  Array as_strided(const Shape& shape, const Shape& strides, std::int64_t offset) const;

  // Copies.

  /// The same elements with another shape: a view if the strides allow one, otherwise a row-major
  /// copy. One size may be -1; it is computed from the others.
  ///
  /// Throws:
  ///   Error      - the array is undefined
  ///   ShapeError - more than one size is -1
  ///   ShapeError - the elements do not fill the shape
  Array reshape(const Shape& wanted) const;
  /// The array itself if it is row-major, otherwise a row-major copy.
  Array contiguous() const;
  /// A row-major copy.
  Array clone() const;
  /// The array itself if it has the dtype already, otherwise a converted copy with empty_like's
  /// layout.
  Array to(DType dtype) const { return dtype == dtype_ ? *this : converted(dtype); }
  /// Writes the elements of `source` into this array, broadcast and converted.
  ///
  /// Throws: ShapeError - `source` does not broadcast to this array's shape
  void copy_from(const Array& source) const;
  void fill(const Scalar& value) const;

  /// The only element of the array, as a T.
  ///
  /// For an integer T, a floating number is truncated. For bool, the result is true unless the
  /// element is zero.
  ///
  /// Throws:
  ///   ShapeError - the number of elements is not one
  ///   DTypeError - T cannot represent the element
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
  /// All elements in row-major order.
  ///
  /// T is the element type. For an int64 array it may also be another integer type.
  ///
  /// Throws:
  ///   DTypeError - T does not fit the dtype
  ///   IndexError - the integer type T cannot represent an element
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

/// `shape`, but a size of -1 is replaced so that the product of the sizes is `numel`.
///
/// Throws:
///   ShapeError - more than one size is -1
///   ShapeError - no size for the -1 gives the product `numel`
///   ShapeError - there is no -1, and the product of the sizes is not `numel`
Shape infer_shape(std::string_view operation, const Shape& shape, std::int64_t numel);

/// The strides of a view that has the shape `wanted`, for an array of `shape` and `strides`;
/// nullopt if the new shape would need a copy.
std::optional<Shape> view_strides(const Shape& shape, const Shape& strides, const Shape& wanted);

/// The dtype of an operation's result, as PyTorch's result_type computes it.
///
/// A 0-d array influences the result only if its category (bool < integer < floating) is higher
/// than the category of all arrays with dimensions.
DType result_type(std::initializer_list<const Array*> arrays) noexcept;
/// The dtype of an operation's result for two arrays.
inline DType result_type(const Array& a, const Array& b) noexcept {
  return a.dtype() == b.dtype() ? a.dtype() : result_type({&a, &b});
}

}  // namespace tend
