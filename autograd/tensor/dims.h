// Which dimensions a reduction is over.
#pragma once

#include <concepts>
#include <initializer_list>

#include <tend/core/array/shape.h>
#include <tend/core/base/strict.h>

#pragma GCC visibility push(default)

namespace tend {

/// The dimensions to reduce over: one, or a list in braces. They may count from the end; an empty
/// list means all of them. IndexError for an integer that int64 cannot hold.
struct Dims : Shape {
  Dims() = default;
  Dims(std::initializer_list<Integer> dims) : Shape(dims) {}
  Dims(const Shape& dims) : Shape(dims) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Dims(T dim) : Shape{Integer(dim)} {}
};

}  // namespace tend

#pragma GCC visibility pop
