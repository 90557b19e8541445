// Options of the functions that create tensors, besides the shape.
#pragma once

#include <optional>

#include <tend/core/array/dtype.h>
#include <tend/core/base/strict.h>

namespace tend {

/// What a new tensor is: zeros({2}, {.dtype = float64, .requires_grad = true}).
struct TensorOptions {
  /// The dtype. If it is missing, the function uses its default.
  std::optional<DType> dtype = std::nullopt;
  /// Whether the new tensor requires grad.
  ///
  /// Throws: DTypeError - it is true and the dtype is not floating; the check comes before the
  ///                      tensor is made
  Flag requires_grad = false;
};

}  // namespace tend
