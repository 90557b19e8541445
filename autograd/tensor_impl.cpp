#include <tend/autograd/tensor_impl.h>

#include <mutex>
#include <utility>

#include <tend/autograd/node.h>

namespace tend {

Tensor TensorHook::operator()(const Tensor& gradient) const {
  Tensor replacement;
  call_(gradient, replacement);
  if (!replacement.defined()) return gradient;
  if (replacement.shape() != gradient.shape()) {
    fail<ShapeError>("register_hook", "a hook gave a gradient of shape ", replacement.shape(),
                     " in place of one of shape ", gradient.shape());
  }
  return replacement.to(gradient.dtype());
}

void GradientSlot::destroy(GradientSlot* slot) noexcept {
  delete slot;
}

TensorImpl::TensorImpl(Array&& elements) noexcept : array(std::move(elements)) {}

TensorImpl::~TensorImpl() {
  // Only the owner itself makes this true or false, so that others need not wait for the mutex.
  if (!slot || slot->owner != this) return;
  const std::lock_guard lock(slot->mutex);
  slot->owner = nullptr;
}

void TensorImpl::destroy(TensorImpl* impl) noexcept {
  delete impl;
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

}  // namespace tend
