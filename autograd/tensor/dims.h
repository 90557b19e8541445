// The dimensions over which a reduction runs.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>

#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>

namespace tend {

struct NewAxis;

/// The dimensions to reduce over: one, or a list in braces, a vector, a span or an array.
///
/// They may count from the end. An empty list, None and std::nullopt mean all dimensions.
///
/// Throws: IndexError - int64 cannot hold an integer
struct Dims : Shape {
  Dims() = default;
  Dims(std::initializer_list<Integer> dims) : Shape(dims) {}
  Dims(const Shape& dims) : Shape(dims) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) : Shape{Integer(dim)} {}
  template <detail::Integers L>
  Dims(const L& dims) : Shape(dims) {}
  /// Makes Dims from None or std::nullopt: all dimensions. It is a template so that braces do not
  /// match it.
  template <class N>
  requires(std::same_as<N, NewAxis> || std::same_as<N, std::nullopt_t>) Dims(N) {}
};

}  // namespace tend
