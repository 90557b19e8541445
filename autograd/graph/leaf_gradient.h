// How a gradient that the engine computed gets into `.grad`.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// True if a gradient is added to the tensor's `.grad`; false for a leaf that was frozen after the
/// graph was recorded.
inline bool takes_gradient(const TensorImpl& tensor) noexcept {
  return tensor.requires_grad || tensor.retains_grad;
}

/// The gradient, summed over broadcast dimensions and converted. ShapeError if it cannot be summed
/// to `shape`.
Tensor fit_gradient(Tensor gradient, const Shape& shape, DType dtype);

/// True if nobody but the caller refers to the elements, so that they may be overwritten.
bool is_unshared(const Tensor& gradient);

/// Adds `gradient` to the `.grad` of the tensor that owns the slot, if there still is one. `.grad`
/// belongs to the user: it never shares elements with anything else, and is added to in place as
/// PyTorch does.
///
/// Throws:
///   ShapeError, DTypeError  - the `.grad` has another shape or dtype than the tensor
void add_to_grad(GradientSlot& slot, Tensor gradient, bool create_graph);

}  // namespace tend
