/// \file
/// Functions that create tensors. The new tensors have no history and pass on no gradient.
///
/// TensorOptions make a leaf that requires grad: zeros({2}, {.requires_grad = true}).
///
/// All these functions have some errors in common:
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor does not fit in memory
///   DTypeError       - the options ask for requires_grad, and the dtype is not floating
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <tend/autograd/ops/random.h>
#include <tend/autograd/tensor/tensor.h>
#include <tend/autograd/tensor/tensor_options.h>
#include <tend/core/array/array.h>
#include <tend/core/base/error.h>

namespace tend {

namespace detail {
/// True for numbers, vectors of numbers, vectors of such vectors, and so on.
template <class T>
inline constexpr bool kIsNested = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool kIsNested<std::vector<T>> = kIsNested<T>;
}  // namespace detail

/// Nested braces or vectors of numbers: 1.0, {1, 2}, {{1, 2}, {3, 4}} and so on.
///
/// Throws: ShapeError - the rows of one level differ in shape
class NestedNumbers {
 public:
  template <class T>
  requires std::floating_point<T> || std::integral<T> NestedNumbers(T value)
      : dtype_(Scalar(value).dtype()), values_{Scalar(value)} {}
  NestedNumbers(std::initializer_list<NestedNumbers> rows);
  template <class T>
  requires detail::kIsNested<T> NestedNumbers(const std::vector<T>& rows) : shape_{rows.size()} {
    if (rows.empty()) return;
    dtype_ = boolean;
    for (auto&& row : rows) add(NestedNumbers(static_cast<const T&>(row)));
  }

  /// bool if all numbers are bools, int64 if all are bools and integers, and otherwise float32.
  /// float32 if there are no numbers.
  DType dtype() const noexcept { return dtype_ == float64 ? float32 : dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  const std::vector<Scalar>& values() const noexcept { return values_; }

 private:
  // Appends a row. shape_[0], the number of rows, is already set.
  void add(const NestedNumbers& row);

  DType dtype_ = float64;
  Shape shape_;
  std::size_t rows_ = 0;  // the number of rows appended
  std::vector<Scalar> values_;
};

///@{
/// Creates a tensor from nested braces or vectors of numbers, as torch.tensor.
///
/// For example tensor({{0.43, 0.15}, {0.55, 0.87}}). Unless `dtype` is given, the dtype follows
/// from the numbers: bool, int64, or float32 if one is floating. No gradient.
///
/// Throws:
///   ShapeError - the rows differ in shape
///   IndexError - int64 cannot hold an integer
///   DTypeError - the dtype is int64 and cannot hold a floating number
Tensor tensor(const NestedNumbers& numbers);
Tensor tensor(const NestedNumbers& numbers, Exactly<DType> dtype);
Tensor tensor(const NestedNumbers& numbers, const TensorOptions& options);
///@}

namespace detail {
template <class L>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::span<T, N>> = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
inline constexpr bool kIsArray<T[N]> = std::is_arithmetic_v<T> && !std::same_as<T, char>;

template <class L>
auto vector_of(const L& values) {
  using Number = std::remove_cvref_t<decltype(*std::begin(values))>;
  return std::vector<Number>(std::begin(values), std::end(values));
}

///@{
/// For tensor(): creates a tensor of the numbers, in the dtype of the options, or else in `usual`.
/// No gradient.
Tensor tensor_of(std::span<const std::int64_t> values, const Shape& shape, DType usual,
                 const TensorOptions& options);
Tensor tensor_of(std::span<const double> values, const Shape& shape, DType usual,
                 const TensorOptions& options);
///@}
}  // namespace detail

///@{
/// Creates a tensor from the numbers of a vector, as torch::tensor.
///
/// The numbers fill `shape` in row-major order. Without a shape the tensor has one dimension.
/// Unless a dtype is given, it follows from the numbers: bool, int64, or float32 for floating
/// numbers. No gradient.
///
/// Throws:
///   ShapeError - the shape has another number of elements
///   DTypeError - the dtype cannot hold a number
///   IndexError - int64 cannot hold an integer
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  const Shape& shape,
                                                                  const TensorOptions& options) {
  using Number = std::conditional_t<std::floating_point<T>, double, std::int64_t>;
  std::vector<Number> numbers;
  numbers.reserve(values.size());
  for (const T value : values) {
    if constexpr (std::same_as<T, bool> || std::floating_point<T>) {
      numbers.push_back(static_cast<Number>(value));
    } else {
      numbers.push_back(Integer(value));
    }
  }
  const DType own = std::floating_point<T> ? float32 : std::same_as<T, bool> ? boolean : int64;
  return detail::tensor_of(numbers, shape, own, options);
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(
    const std::vector<T>& values, const Shape& shape, std::optional<DType> dtype = std::nullopt) {
  return tensor(values, shape, TensorOptions{.dtype = dtype});
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  const TensorOptions& options) {
  return tensor(values, Shape{values.size()}, options);
}
template <class T>
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values) {
  return tensor(values, TensorOptions{});
}
template <class T, std::same_as<DType> D>  // a template, so braces are a shape or options
requires std::floating_point<T> || std::integral<T> Tensor tensor(const std::vector<T>& values,
                                                                  D dtype) {
  return tensor(values, TensorOptions{.dtype = dtype});
}
///@}

///@{
/// Creates a tensor from a std::array, a std::span or a C array: tensor(values, {2, 3}).
///
/// Shapes, dtypes and errors are as for a std::vector. No gradient.
template <class L>
requires detail::kIsArray<L> Tensor tensor(const L& values) {
  return tensor(detail::vector_of(values));
}
template <class L>
requires detail::kIsArray<L> Tensor tensor(const L& values, const Shape& shape,
                                           std::optional<DType> dtype = std::nullopt) {
  return tensor(detail::vector_of(values), shape, dtype);
}
template <class L, std::same_as<DType> D>
requires detail::kIsArray<L> Tensor tensor(const L& values, D dtype) {
  return tensor(detail::vector_of(values), dtype);
}
///@}

///@{
/// Creates a tensor whose elements are not initialised. For bool they are false.
///
/// The dtype is float32 unless another is given. No gradient.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor does not fit in memory
Tensor empty(const Shape& shape, Exactly<DType> dtype = float32);
Tensor empty(const Shape& shape, const TensorOptions& options);
///@}
///@{
/// Creates a tensor filled with `value`.
///
/// Unless a dtype is given, it follows from the value: bool, int64, or float32 for a floating
/// number. No gradient.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor does not fit in memory
///   DTypeError       - the dtype cannot hold the value
Tensor full(const Shape& shape, const Scalar& value, std::optional<DType> dtype = std::nullopt);
Tensor full(const Shape& shape, const Scalar& value, const TensorOptions& options);
///@}
///@{
/// Creates a tensor filled with 0.
///
/// The dtype is float32 unless another is given. No gradient.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor does not fit in memory
Tensor zeros(const Shape& shape, Exactly<DType> dtype = float32);
Tensor zeros(const Shape& shape, const TensorOptions& options);
///@}
///@{
/// Creates a tensor filled with 1.
///
/// The dtype is float32 unless another is given. No gradient.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the tensor does not fit in memory
Tensor ones(const Shape& shape, Exactly<DType> dtype = float32);
Tensor ones(const Shape& shape, const TensorOptions& options);
///@}

///@{
/// Creates a tensor whose sizes are given one by one: zeros(2, 3).
///
/// The dtype is float32. The errors are as for sizes in a shape. No gradient.
template <class... T>
requires detail::Sizes<T...> Tensor empty(T... sizes) {
  return empty({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor zeros(T... sizes) {
  return zeros({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor ones(T... sizes) {
  return ones({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor rand(T... sizes) {
  return rand({Integer(sizes)...});
}
template <class... T>
requires detail::Sizes<T...> Tensor randn(T... sizes) {
  return randn({Integer(sizes)...});
}
///@}

///@{
/// Creates a tensor of the shape of `like`, filled with `value`.
///
/// It has the dtype of `like`, unless another is given. No gradient.
///
/// Throws:
///   OutOfMemoryError - the tensor does not fit in memory
///   DTypeError       - the dtype cannot hold the value
Tensor full_like(const Tensor& like, const Scalar& value,
                 std::optional<DType> dtype = std::nullopt);
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options);
///@}
///@{
/// Creates a tensor of the shape of `like`, filled with 0.
///
/// It has the dtype of `like`, unless another is given. No gradient.
///
/// Throws: OutOfMemoryError - the tensor does not fit in memory
Tensor zeros_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor zeros_like(const Tensor& like, const TensorOptions& options);
///@}
///@{
/// Creates a tensor of the shape of `like`, filled with 1.
///
/// It has the dtype of `like`, unless another is given. No gradient.
///
/// Throws: OutOfMemoryError - the tensor does not fit in memory
Tensor ones_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor ones_like(const Tensor& like, const TensorOptions& options);
///@}

///@{
/// Creates a tensor of the shape of `like`, whose elements are not initialised. For bool they are
/// false.
///
/// It has the dtype of `like`, unless another is given. No gradient.
///
/// Throws: OutOfMemoryError - the tensor does not fit in memory
Tensor empty_like(const Tensor& like, std::optional<DType> dtype = std::nullopt);
Tensor empty_like(const Tensor& like, const TensorOptions& options);
///@}

///@{
/// Returns the numbers from `start` up to `end`, which is excluded, in steps of `step`.
///
/// The result has one dimension. It is int64 if all numbers are integers, and otherwise float32,
/// unless a dtype is given. No gradient.
///
/// Throws:
///   DTypeError - the dtype is bool
///   DTypeError - the dtype is int64 and cannot hold a number
///   Error      - the step is 0, or leads away from `end`
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step = 1,
              std::optional<DType> dtype = std::nullopt);
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options);
Tensor arange(const Scalar& start, const Scalar& end, Exactly<DType> dtype);
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options);
///@}
///@{
/// Returns the numbers 0, 1, 2 and so on up to `end`, which is excluded.
///
/// The result has one dimension. It is int64 if `end` is an integer, and otherwise float32, unless
/// a dtype is given. No gradient.
///
/// Throws:
///   DTypeError - the dtype is bool
///   DTypeError - the dtype is int64 and cannot hold `end`
///   Error      - `end` is negative
Tensor arange(const Scalar& end, std::optional<DType> dtype = std::nullopt);
Tensor arange(const Scalar& end, const TensorOptions& options);
///@}

///@{
/// Returns `steps` evenly spaced numbers from `start` to `end`, both included.
///
/// The result has one dimension. Its dtype is floating, float32 unless another is given. No
/// gradient.
///
/// Throws:
///   DTypeError - the dtype is not floating
///   DTypeError - the dtype cannot hold `start` or `end`
///   ShapeError - `steps` is negative
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                Exactly<DType> dtype = float32);
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                const TensorOptions& options);
///@}

///@{
/// Creates a matrix with ones on the main diagonal and zeros elsewhere.
///
/// Its shape is (n, m), or (n, n). The dtype is float32 unless another is given. No gradient.
///
/// Throws:
///   ShapeError       - a size is negative
///   OutOfMemoryError - the matrix does not fit in memory
Tensor eye(std::int64_t n, std::int64_t m, Exactly<DType> dtype = float32);
Tensor eye(std::int64_t n, Exactly<DType> dtype = float32);
Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options);
Tensor eye(std::int64_t n, const TensorOptions& options);
///@}

///@{
/// Returns the positions of the elements of a (rows, columns) matrix that tril or triu keeps.
///
/// The result is int64 (2, n): the rows of these elements, and their columns, in row-major order.
/// tril_indices is for tril and triu_indices for triu. No gradient.
///
/// Throws: ShapeError - a size is negative
Tensor tril_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
Tensor triu_indices(std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
///@}

///@{
/// Wraps the caller's memory as a tensor, without a copy.
///
/// The memory is row-major unless strides are given. Strides count elements. No gradient.
///
/// `deleter` is called with `data` exactly once: when the last tensor on this memory is destroyed,
/// or before this function throws. It runs on the thread that destroys that tensor. It must not
/// throw, since an exception there ends the program. If it destroys the last tensor on other memory
/// that from_blob wrapped, the other deleter runs after the first one has returned.
///
/// Throws:
///   ShapeError - a size or a stride is negative
///   ShapeError - the number of strides is not the number of sizes
///   ShapeError - the view spans more bytes than an int64 can count
///   ShapeError - `data` is null, and the tensor has elements
Tensor from_blob(void* data, const Shape& shape, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype = float32,
                 std::function<void(void*)> deleter = {});
///@}

}  // namespace tend
