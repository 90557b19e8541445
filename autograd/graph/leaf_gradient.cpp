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

bool is_unshared(const Tensor& gradient, std::uint32_t handles) {
  const TensorImpl& impl = *gradient.impl();
  return impl.use_count() == handles && is_only_owner(impl) &&
         !impl.array.storage()->is_borrowed() && impl.array.is_dense();
}

namespace {

// Whether a gradient lies in memory as PyTorch's `.grad` of the leaf would: like the leaf where
// that has no gaps, otherwise row-major.
bool lies_well(const Array& gradient, const Array& leaf) {
  return leaf.is_dense() ? gradient.has_layout_of(leaf) : gradient.is_contiguous();
}

// A copy of the gradient that lies so, with history.
Tensor copy_for(const Array& leaf, const Tensor& gradient) {
  Array out = leaf.is_dense() ? Array::empty_like(gradient.shape(), gradient.dtype(), {&leaf})
                              : Array::empty(gradient.shape(), gradient.dtype());
  out.copy_from(gradient.array());
  return record(
      "CloneBackward0", std::move(out), {gradient}, {}, [](Derivative& d) { d.set(0, d.grad()); },
      "clone");
}

}  // namespace

void check_former(const char* operation, const GradientSlot& slot,
                  FunctionRef<bool(const GradientSlot&)> counts) {
  if (!slot.former) return;
  const GradientSlot* latest = &slot;
  // The owner cannot be destroyed while its slot is locked. The caller has locked `slot` itself.
  std::unique_lock<std::mutex> lock;
  while (latest->former) {
    GradientSlot* next = latest->former->successor.get();
    lock = std::unique_lock(next->mutex);
    latest = next;
  }
  const TensorImpl* owner = latest->owner;
  if (owner == nullptr || !takes_gradient(*owner) || !counts(*latest)) return;
  fail<ShapeError>(operation, "a leaf that the graph was recorded with, ", slot.former->shape, ' ',
                   slot.former->dtype, ", has become another view or got other elements, ",
                   owner->array.shape(), ' ', owner->array.dtype(), ", since then");
}

void check_grad_of_leaf(const char* operation, const GradientSlot& slot) {
  const TensorImpl* owner = slot.owner;
  if (owner != nullptr && takes_gradient(*owner)) check_own_grad_fits(operation, *owner);
}

GradAddition::GradAddition(GradientSlot& slot, Tensor gradient, bool create_graph)
    : slot_(&slot), gradient_(std::move(gradient)), create_graph_(create_graph) {
  prepare();
}

void GradAddition::prepare() {
  before_.reset();
  after_.reset();
  bool is_leaf = true;
  Array leaf;  // undefined, so row-major, where there is none
  {
    const std::lock_guard lock(slot_->mutex);
    check_former("backward", *slot_, [](const GradientSlot&) { return true; });
    check_grad_of_leaf("backward", *slot_);
    if (const TensorImpl* owner = slot_->owner) {
      before_ = owner->grad;
      is_leaf = owner->requires_grad && !owner->grad_fn;
      if (!before_) leaf = owner->array;
    }
  }
  if (!before_) {
    const bool fits = lies_well(gradient_.array(), leaf) && is_unshared(gradient_, 2);
    after_ = fits ? gradient_.impl() : copy_for(leaf, gradient_).impl();
    // Nobody else has its elements, so it is a tensor as any other.
    if (fits && after_->view_without_grad) after_->leave_base();
    return;
  }
  const Array& sum = before_->array;
  version_ = sum.storage()->version();
  // As in PyTorch, the retained gradient of a tensor with history is never written in place.
  if (create_graph_ || !is_leaf || sum.storage()->is_inference() || sum.may_self_overlap() ||
      sum.may_overlap(gradient_.array())) {
    after_ = Tensor(before_).add(gradient_).impl();
  }
}

void GradAddition::apply() {
  // Another thread may have added to `.grad` since.
  while (!try_apply()) prepare();
}

// False where `.grad` has changed since this was prepared. What is replaced stays alive here:
// destroying a tensor may run code of the user, which must not happen under the lock.
bool GradAddition::try_apply() {
  const std::lock_guard lock(slot_->mutex);
  TensorImpl* owner = slot_->owner;
  // The leaf may have been destroyed or frozen since.
  if (owner == nullptr || !takes_gradient(*owner)) return true;
  if (owner->grad != before_) return false;
  if (!after_) {
    const Array& sum = before_->array;
    kernels::add(sum, sum, gradient_.array());
    sum.storage()->bump_version("backward");
    return true;
  }
  if (before_ && before_->array.storage()->version() != version_) return false;
  owner->grad.swap(after_);
  return true;
}

}  // namespace tend
