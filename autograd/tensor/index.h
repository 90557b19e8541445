// What goes between the brackets of x[...].
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
  /// Nothing, for a parameter that may be missing: x.argmax(None), x.clamp(None, 1).
  template <class T>
  constexpr operator std::optional<T>() const noexcept {
    return std::nullopt;
  }
};
struct Ellipsis {};
/// A new dimension of size 1 (Python's None).
inline constexpr NewAxis newaxis{};
/// The same under Python's name; elsewhere a parameter that is missing.
inline constexpr NewAxis None{};  // NOLINT(readability-identifier-naming): Python's name
/// All dimensions that the other indices leave (Python's ...).
inline constexpr Ellipsis ellipsis{};

/// Python's start:stop:step with a positive step: Slice(1, None, 2). A missing start is the
/// beginning of the dimension, a missing stop its end.
struct Slice {
  Slice() = default;
  Slice(std::optional<Integer> first, std::optional<Integer> end = {},
        std::optional<Integer> pace = 1)
      : start(first), stop(end), step(pace.value_or(1)) {}

  std::optional<Integer> start;
  std::optional<Integer> stop;
  Integer step = 1;
};

/// One index: an integer, a Slice, newaxis, ellipsis, or a tensor of int64 positions or bools, for
/// which a vector, span or array of integers, or a vector of bools may stand.
/// tend::index says what they mean together.
class Index {
 public:
  enum class Kind { integer, range, new_axis, rest, tensor };

  /// IndexError for one that int64 cannot hold.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T position)
      : kind_(Kind::integer), position_(Integer(position)) {}
  /// A 0-d bool tensor.
  Index(std::same_as<bool> auto value)
      : kind_(Kind::tensor), tensor_(new TensorImpl(Array::scalar(value, boolean))) {}
  Index(std::same_as<Slice> auto slice) : kind_(Kind::range), slice_(slice) {}
  Index(NewAxis) : kind_(Kind::new_axis) {}
  Index(Ellipsis) : kind_(Kind::rest) {}
  Index(const Tensor& tensor);
  template <detail::Integers L>
  Index(const L& positions)
      : kind_(Kind::tensor), tensor_(new TensorImpl(positions_of(Shape(positions)))) {}
  /// V is std::vector<bool>: a template, as braces are no mask.
  template <std::same_as<std::vector<bool>> V>
  Index(const V& mask) : kind_(Kind::tensor), tensor_(new TensorImpl(mask_of(mask))) {}

  Kind kind() const noexcept { return kind_; }
  std::int64_t position() const noexcept { return position_; }
  const Slice& slice() const noexcept { return slice_; }
  /// The elements of a tensor used as an index.
  const Array& array() const noexcept { return tensor_->array; }

 private:
  // A 1-d int64 array of these numbers.
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

/// For an argument: in a variable it refers to what is gone.
using Indices = std::initializer_list<Index>;

}  // namespace tend
