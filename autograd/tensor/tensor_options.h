// Options of the functions that create tensors, besides the shape.
#pragma once

#include <optional>

#include <tend/core/array/dtype.h>
#include <tend/core/base/strict.h>

namespace tend {

/// The options of a new tensor: zeros({2}, {.dtype = float64, .requires_grad = true}).
struct TensorOptions {
  /// The dtype. If it is missing, the function uses its default.
  std::optional<DType> dtype = std::nullopt;
  /// True if the new tensor requires grad.
  ///
  /// Throws: DTypeError - requires_grad is true and the dtype is not floating; the check comes
  ///                      before the tensor is made
  Flag requires_grad = false;
};

}  // namespace tend
