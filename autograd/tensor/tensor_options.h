// What a function that creates a tensor is told about it besides its shape.
#pragma once

#include <optional>

#include <tend/core/array/dtype.h>
#include <tend/core/base/strict.h>

namespace tend {

/// What a new tensor is: zeros({2}, {.dtype = float64, .requires_grad = true}).
struct TensorOptions {
  /// What the function has without options where it is not given.
  std::optional<DType> dtype = std::nullopt;
  /// DTypeError unless the dtype is floating, before anything is made.
  Flag requires_grad = false;
};

}  // namespace tend
