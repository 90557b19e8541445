#include <tend/autograd/graph/inplace.h>

#include <tend/autograd/graph/strided_region.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend {
namespace {

// Returns the base with the history that it has after `result` is written to the region of `view`.
// Elements in the region get the history of `result`, and all others keep theirs.
Tensor rebased(const char* operation, const Tensor& base, const Array& view, const Tensor& result) {
  return record(
      "CopySlices", base.array(), {base, result}, {},
      [region = StridedRegion(base.array(), view)](Derivative& d) {
        if (d.needs(0)) d.set(0, clear_region(d.grad(), region));
        if (d.needs(1)) d.set(1, take_region(d.grad(), region));
      },
      operation);
}

}  // namespace

void check_writable(const char* operation, const Tensor& self) {
  const Array& array = self.array();
  if (array.may_self_overlap()) {
    fail<ShapeError>(operation, "cannot write in place if two indices may share an element: shape ",
                     array.shape(), ", strides ", array.strides(), "; use a clone");
  }
  check_history_writable(operation, self);
}

void check_history_writable(const char* operation, const Tensor& self) {
  self.array();  // throws if the tensor is undefined
  if (!grad_enabled()) return;
  const Tensor base(live_base(*self.impl()));
  const auto is_trained_leaf = [](const Tensor& x) { return x.requires_grad() && x.is_leaf(); };
  if (is_trained_leaf(self) || is_trained_leaf(base)) {
    fail<AutogradError>(
        operation,
        "cannot write in place to a leaf that requires grad, or to a view of one; use NoGradGuard");
  }
}

void check_recordable(const char* operation, const Tensor& self) {
  const Tensor base(live_base(*self.impl()));
  if (base.defined() && base.array().may_self_overlap()) {
    fail<ShapeError>(operation,
                     "cannot record a write to a view of a tensor in which two indices may share "
                     "an element: shape ",
                     base.shape(), ", strides ", base.array().strides(),
                     "; use a view of a clone of the tensor");
  }
}

Tensor before_write(const Tensor& self, TensorRefs inputs) {
  if (!tracks(inputs) && !tracks({self})) return self;
  Tensor copy(self.array().clone());
  Edge edge = gradient_edge(self);
  copy.impl()->set_grad_fn(std::move(edge.node));
  return copy;
}

void check_fits(const char* operation, const Tensor& self, const Shape& shape, DType dtype) {
  const Array& array = self.array();
  if (shape != array.shape()) {
    fail<ShapeError>(operation, "the result of an in-place operation must have the tensor's shape ",
                     array.shape(), ", but has shape ", shape);
  }
  if (dtype_category(dtype) > dtype_category(array.dtype())) {
    fail<DTypeError>(operation, "the result is ", dtype, ", which a tensor of ", array.dtype(),
                     " cannot store in place");
  }
}

void write(const char* operation, const Tensor& self, const Tensor& result) {
  check_fits(operation, self, result.shape(), result.dtype());
  const Tensor value = result.to(self.dtype());
  PendingWrite pending(operation, self, value);
  self.array().copy_from(value.array());
  pending.commit();
}

PendingWrite::PendingWrite(const char* operation, const Tensor& self, const Tensor& result)
    : operation_(operation), self_(self.impl()) {
  if (!result.requires_grad()) return;
  check_recordable(operation, self);
  const Tensor base(live_base(*self_));
  if (!base.defined()) {
    node_ = result.impl()->grad_fn;
    return;
  }
  const Tensor written = rebased(operation, base, self_->array, result);
  base_ = base.impl();
  node_ = written.impl()->grad_fn;
  // A view retains the gradient of its latest value.
  if (self_->retains_grad) view_node_ = region_of(written, self_->array).impl()->grad_fn;
}

void PendingWrite::commit() noexcept {
  self_->array.storage()->bump_version(operation_);
  take_history();
}

void PendingWrite::take_history() noexcept {
  if (!node_) return;
  (base_ ? base_ : self_)->set_grad_fn(std::move(node_));
  if (!view_node_) return;
  self_->set_grad_fn(std::move(view_node_));
  self_->base_version = self_->array.storage()->version();
}

const Tensor& become(const char* operation, const Tensor& self,
                     FunctionRef<Tensor(const Tensor&)> view) {
  check_history_writable(operation, self);
  TensorImpl& impl = *self.impl();
  // `before` has self's elements and their old history.
  Tensor before(self.array());
  before.impl()->set_grad_fn(gradient_edge(self).node);
  // The view is recorded in any grad mode. Otherwise self would have the new shape, but its history
  // would still have the old one.
  const GradModeGuard recorded(true);
  const Tensor result = view(before);
  impl.array = result.array();
  if (result.impl()->grad_fn) impl.set_grad_fn(result.impl()->grad_fn);
  impl.array.storage()->bump_version(operation);
  // No element has changed, so the history of a view is valid for the new version.
  impl.base_version = impl.array.storage()->version();
  return self;
}

}  // namespace tend
