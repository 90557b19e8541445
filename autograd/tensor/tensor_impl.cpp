#include <tend/autograd/tensor/tensor_impl.h>

#include <mutex>
#include <utility>

#include <tend/autograd/graph/node.h>

namespace tend {

Tensor TensorHook::operator()(const Tensor& gradient) const {
  Tensor replacement;
  call_(gradient, replacement);
  if (!replacement.defined()) return gradient;
  if (replacement.shape() != gradient.shape()) {
    fail<ShapeError>("register_hook", "a hook must return a gradient of shape ", gradient.shape(),
                     ", but returned shape ", replacement.shape());
  }
  if (replacement.dtype() != gradient.dtype()) {
    fail<DTypeError>("register_hook", "a hook must return a gradient of dtype ", gradient.dtype(),
                     ", but returned ", replacement.dtype());
  }
  return replacement;
}

void GradientSlot::destroy(GradientSlot* slot) noexcept {
  destroy_in_turn(slot, [](GradientSlot* each) { delete each; });
}

TensorImpl::TensorImpl(Array&& elements) noexcept : array(std::move(elements)) {}

TensorImpl::~TensorImpl() {
  // Only this tensor sets the owner to `this` or to another value, so the test needs no lock.
  if (!slot || slot->owner != this) return;
  const std::lock_guard lock(slot->mutex);
  slot->owner = nullptr;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  // Gradients may have gradients, and hooks may own tensors. These chains are destroyed without
  // recursion. All other tensors own tensors only through nodes. The slot is tested first: if there
  // is one, another thread may be writing to `grad`.
  if (impl->slot || impl->grad) {
    destroy_in_turn(impl, [](TensorImpl* each) { delete each; });
  } else {
    delete impl;
  }
}

void TensorImpl::set_grad_fn(Ref<Node> node) noexcept {
  if (retains_grad) {
    if (grad_fn && grad_fn->retainer == slot) grad_fn->retainer.reset();
    if (node) node->retainer = slot;
  }
  grad_fn = std::move(node);
}

const Ref<GradientSlot>& TensorImpl::gradient_slot() {
  if (!slot) slot = Ref<GradientSlot>::first(new GradientSlot(this));
  return slot;
}

void TensorImpl::set_elements(Array&& elements) noexcept {
  array = std::move(elements);
  base.reset();
}

}  // namespace tend
