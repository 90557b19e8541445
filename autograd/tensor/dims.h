// Which dimensions a reduction is over.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>

#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>

namespace tend {

struct NewAxis;

/// The dimensions to reduce over: one, a list in braces, a vector, a span or an array. They may
/// count from the end; an empty list means all of them, and so do None and std::nullopt. IndexError
/// for an integer that int64 cannot hold.
struct Dims : Shape {
  Dims() = default;
  Dims(std::initializer_list<Integer> dims) : Shape(dims) {}
  Dims(const Shape& dims) : Shape(dims) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) : Shape{Integer(dim)} {}
  template <detail::Integers L>
  Dims(const L& dims) : Shape(dims) {}
  /// None. A template, as braces are none of these.
  template <class N>
  requires(std::same_as<N, NewAxis> || std::same_as<N, std::nullopt_t>) Dims(N) {}
};

}  // namespace tend
