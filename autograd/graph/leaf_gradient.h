// Adds the engine's gradients to `.grad`.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend {

/// True if backward adds gradients to the tensor's `.grad`. It does not for a leaf whose
/// requires_grad was turned off after the graph was recorded.
inline bool takes_gradient(const TensorImpl& tensor) noexcept {
  return tensor.requires_grad || tensor.retains_grad;
}

/// Sums a gradient over broadcast dimensions, and converts it to `dtype`.
///
/// Throws: ShapeError - the gradient cannot be summed to `shape`
Tensor fit_gradient(Tensor gradient, const Shape& shape, DType dtype);

/// True if nobody but the caller refers to the elements, so that they may be overwritten.
bool is_unshared(const Tensor& gradient);

/// Adds `gradient` to the `.grad` of the tensor that owns the slot, if it still exists.
///
/// `.grad` belongs to the user. It never shares elements with anything else, and additions are in
/// place, as in PyTorch.
///
/// Throws:
///   DTypeError - the `.grad` has another dtype than the tensor
///   ShapeError - the `.grad` has another shape than the tensor
void add_to_grad(GradientSlot& slot, Tensor gradient, bool create_graph);

}  // namespace tend
