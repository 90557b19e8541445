#include <tend/autograd/graph/leaf_gradient.h>

#include <mutex>

#include <tend/autograd/graph/node.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {

Tensor fit_gradient(Tensor gradient, const Shape& shape, DType dtype) {
  if (gradient.shape() != shape) gradient = gradient.sum_to_size(shape);
  if (gradient.dtype() != dtype) gradient = gradient.to(dtype);
  return gradient;
}

bool is_unshared(const Tensor& gradient) {
  const Storage& storage = *gradient.array().storage();
  return gradient.impl()->use_count() == 1 && storage.use_count() == 1 && !storage.is_borrowed() &&
         gradient.array().is_dense();
}

namespace {

// True if the gradient has the strides that PyTorch's `.grad` of the leaf would have: the leaf's
// strides if the leaf has no gaps, and row-major strides otherwise.
bool has_layout_for(const Array& leaf, const Array& gradient) {
  return leaf.is_dense() ? gradient.has_layout_of(leaf) : gradient.is_contiguous();
}

// Copies the gradient to the layout that has_layout_for accepts, and records the copy.
Tensor copy_for(const Array& leaf, const Tensor& gradient) {
  Array out = leaf.is_dense() ? Array::empty_like(gradient.shape(), gradient.dtype(), {&leaf})
                              : Array::empty(gradient.shape(), gradient.dtype());
  out.copy_from(gradient.array());
  return record(
      "CloneBackward0", std::move(out), {gradient}, {}, [](Derivative& d) { d.set(0, d.grad()); },
      "clone");
}

}  // namespace

void add_to_grad(GradientSlot& slot, Tensor gradient, bool create_graph) {
  Ref<TensorImpl> replaced;  // destroyed after the unlock, as this may run code of the user
  const std::lock_guard lock(slot.mutex);
  TensorImpl* owner = slot.owner;
  if (owner == nullptr || !takes_gradient(*owner)) return;
  check_own_grad_fits("backward", *owner);
  if (!owner->grad) {
    const bool fits = has_layout_for(owner->array, gradient.array()) && is_unshared(gradient);
    owner->grad = (fits ? gradient : copy_for(owner->array, gradient)).impl();
    return;
  }
  const Array& sum = owner->grad->array;
  // As in PyTorch, the retained gradient of a tensor with history is never written in place.
  const bool is_leaf = owner->requires_grad && !owner->grad_fn;
  if (create_graph || !is_leaf || sum.may_self_overlap() || sum.may_overlap(gradient.array())) {
    replaced = Tensor(owner->grad).add(gradient).impl();
    owner->grad.swap(replaced);
  } else {
    kernels::add(sum, sum, gradient.array());
    sum.storage()->bump_version("backward");
  }
}

}  // namespace tend
