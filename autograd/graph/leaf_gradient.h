// How a gradient that the engine computed gets into the `.grad` of a leaf.
#pragma once

#include <cstdint>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/function_ref.h>

namespace tend {

/// Whether a leaf waits for a gradient: false for one that was frozen since the graph was recorded.
inline bool takes_gradient(const TensorImpl& tensor) noexcept {
  return tensor.requires_grad || tensor.retains_grad;
}

/// A gradient that a derivative gave, summed over broadcast dimensions and converted.
Tensor fit_gradient(Tensor gradient, const Shape& shape, DType dtype);

/// Whether only the caller's handles, `handles` in number, refer to the elements, so that these may
/// be overwritten.
bool is_unshared(const Tensor& gradient, std::uint32_t handles = 1);

/// ShapeError where the graph was recorded with a leaf that has become another view, or got other
/// elements, and that still waits for a gradient. `counts` says of the slot that the leaf has now
/// whether that matters. The caller holds the slot's mutex.
void check_former(const char* operation, const GradientSlot& slot,
                  FunctionRef<bool(const GradientSlot&)> counts);

/// ShapeError or DTypeError where the leaf's `.grad` does not fit what the leaf is now. The caller
/// holds the slot's mutex.
void check_grad_of_leaf(const char* operation, const GradientSlot& slot);

/// What becomes of a `.grad`: another tensor, or the sum in its place. `.grad` belongs to the user:
/// it never shares elements with anything else, and is added to in place as PyTorch does.
class GradAddition {
 public:
  /// Everything that needs memory, or can fail, is done here. `gradient` is one of two handles on
  /// its tensor, this copy of it being the other.
  GradAddition(GradientSlot& slot, Tensor gradient, bool create_graph);
  /// Changes `.grad`.
  void apply();

 private:
  void prepare();
  bool try_apply();

  GradientSlot* slot_;
  Tensor gradient_;
  bool create_graph_;
  Ref<TensorImpl> before_;     // the `.grad` that this was made for
  std::uint32_t version_ = 0;  // version of its elements
  Ref<TensorImpl> after_;      // null: `before_` is written in place
};

}  // namespace tend
