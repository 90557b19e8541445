// The indices in the brackets of x[...].
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/tensor_impl.h>

namespace tend {

class Tensor;

struct NewAxis {
  /// Converts to a missing argument: x.argmax(None), x.clamp(None, 1).
  template <class T>
  constexpr operator std::optional<T>() const noexcept {
    return std::nullopt;
  }
};
struct Ellipsis {};
/// A new dimension of size 1 (Python's None).
inline constexpr NewAxis newaxis{};
/// newaxis under Python's name. In argument lists, it is a missing argument.
inline constexpr NewAxis None{};  // NOLINT(readability-identifier-naming): Python's name
/// All dimensions that the other indices do not use (Python's ...).
inline constexpr Ellipsis ellipsis{};

/// Python's start:stop:step with a positive step: Slice(1, None, 2).
///
/// A missing start is the beginning of the dimension, and a missing stop is its end.
struct Slice {
  Slice() = default;
  Slice(std::optional<Integer> first, std::optional<Integer> end = {},
        std::optional<Integer> pace = 1)
      : start(first), stop(end), step(pace.value_or(1)) {}

  std::optional<Integer> start;
  std::optional<Integer> stop;
  Integer step = 1;
};

/// One index of x[...]: an integer, a Slice, newaxis, ellipsis, or a tensor of int64 positions or
/// bools.
///
/// A vector, span or array of integers, or a vector of bools, is accepted in place of a tensor.
/// tend::index documents how indices work together.
class Index {
 public:
  enum class Kind { integer, range, new_axis, rest, tensor };

  /// Makes an index from an integer.
  ///
  /// Throws: IndexError - int64 cannot hold the integer
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T position)
      : kind_(Kind::integer), position_(Integer(position)) {}
  /// Makes a 0-d bool tensor as an index.
  Index(std::same_as<bool> auto value)
      : kind_(Kind::tensor), tensor_(new TensorImpl(Array::scalar(value, boolean))) {}
  Index(std::same_as<Slice> auto slice) : kind_(Kind::range), slice_(slice) {}
  Index(NewAxis) : kind_(Kind::new_axis) {}
  Index(Ellipsis) : kind_(Kind::rest) {}
  Index(const Tensor& tensor);
  template <detail::Integers L>
  Index(const L& positions)
      : kind_(Kind::tensor), tensor_(new TensorImpl(positions_of(Shape(positions)))) {}
  /// Makes a mask from a std::vector<bool>. It is a template so that braces are not read as a mask.
  template <std::same_as<std::vector<bool>> V>
  Index(const V& mask) : kind_(Kind::tensor), tensor_(new TensorImpl(mask_of(mask))) {}

  Kind kind() const noexcept { return kind_; }
  std::int64_t position() const noexcept { return position_; }
  const Slice& slice() const noexcept { return slice_; }
  /// Returns the elements of a tensor used as an index.
  const Array& array() const noexcept { return tensor_->array; }

 private:
  // Makes a 1-d int64 array of these numbers.
  static Array positions_of(const Shape& positions) {
    return Array::from<std::int64_t>(positions, {positions.rank()});
  }
  static Array mask_of(const std::vector<bool>& mask) {
    Array array = Array::empty({mask.size()}, boolean);
    std::copy(mask.begin(), mask.end(), array.data<bool>());
    return array;
  }

  Kind kind_;
  std::int64_t position_ = 0;
  Slice slice_;
  Ref<TensorImpl> tensor_;
};

/// A list of indices, for arguments only: a variable of this type would refer to destroyed objects.
using Indices = std::initializer_list<Index>;

}  // namespace tend
