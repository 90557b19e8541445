#include <tend/autograd/ops/elementwise.h>

#include <algorithm>
#include <functional>

#include <tend/autograd/graph/anomaly.h>

namespace tend {
namespace {

bool is_same_view(const Array& a, const Array& b) {
  return a.raw() == b.raw() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

// Returns a tensor with self's current history. The returned tensor keeps this history when self
// gets another one. With `copies`, it has a copy of the elements, too.
Tensor with_history(const Tensor& self, bool copies) {
  Tensor before(copies ? self.array().clone() : self.array());
  before.impl()->set_grad_fn(gradient_edge(self).node);
  return before;
}

}  // namespace

InPlaceRun::InPlaceRun(const char* operation, DType dtype, TensorRefs inputs, TensorRefs saved)
    : operation_(operation),
      self_(*inputs.begin()->get()),
      inputs_(inputs),
      saved_(saved),
      is_recorded_(tracks(inputs)) {
  const Array& array = self_.array();
  if (dtype != array.dtype()) check_fits(operation, self_, array.shape(), dtype);
  for (const TensorRef& input : inputs) {
    if (input.get() == nullptr || input.get() == &self_ || !input.get()->defined()) continue;
    const Shape& shape = input.get()->shape();
    if (shape == array.shape()) continue;
    check_fits(operation, self_, broadcast_shapes(operation, array.shape(), shape), dtype);
  }
  if (is_recorded_) prepare_record(dtype);
  if (!beside_ && dtype != array.dtype())
    beside_.emplace(Array::empty_like(array.shape(), dtype, {&array}));
}

void InPlaceRun::prepare_record(DType dtype) {
  check_recordable(operation_, self_);
  const auto is_self = [&](const TensorRef& each) { return each.get() == &self_; };
  const bool saves_self = std::any_of(saved_.begin(), saved_.end(), is_self);
  // Anomaly mode looks for NaN in the inputs after the write, so it needs the old elements.
  before_ = with_history(self_, saves_self || autograd::DetectAnomaly::is_on());
  if (std::any_of(saved_.begin(), saved_.end(), std::mem_fn(&TensorRef::is_output)))
    beside_.emplace(Array::empty_like(self_.shape(), dtype, {&self_.array()}));
}

std::vector<TensorRef> InPlaceRun::before_write(TensorRefs refs) const {
  std::vector<TensorRef> before(refs);
  std::replace_if(
      before.begin(), before.end(), [&](const TensorRef& each) { return each.get() == &self_; },
      TensorRef(before_));
  return before;
}

const Array& InPlaceRun::apart(const Array& other) {
  const Array& out = elements();
  if (&other == &out || is_same_view(other, out) || !other.may_overlap(out)) return other;
  return copies_.emplace_front(other.clone());
}

void InPlaceRun::finish(const Tensor& result) {
  const Array& array = self_.array();
  const Tensor value = result.to(array.dtype());
  if (!is_same_view(value.array(), array)) array.copy_from(value.array());
  PendingWrite(operation_, self_, value).commit();
}

void InPlaceRun::finish() {
  const Array& array = self_.array();
  if (beside_) array.copy_from(*beside_);
  if (autograd::Timeline::is_on())
    autograd::Timeline::note(operation_, array, {inputs_.begin(), inputs_.size()});
  array.storage()->bump_version(operation_);
}

Tensor run_row(const Form& form, const UnaryRow& row, const Tensor& self) {
  const DType own = self.dtype();
  const DType dtype = row.promotion == Promotion::floating ? to_floating(own) : own;
  const TensorRef saved = row.saved == Saved::self     ? TensorRef(self)
                          : row.saved == Saved::result ? kOutput
                                                       : TensorRef();
  return elementwise(
      form, row.node, dtype, row.kernel, {saved},
      [gradient = row.gradient](Derivative& d) { d.set(0, gradient(d.grad(), d.saved(0))); }, self);
}

Tensor run_row(const Form& form, const BinaryRow& row, const Tensor& self, const Tensor& other,
               const char* node) {
  const DType promoted = result_type(self.array(), other.array());
  const DType dtype = row.promotion == Promotion::floating ? to_floating(promoted) : promoted;
  // Only inputs that a needed gradient reads are saved.
  const bool has_self_gradient = self.requires_grad(), has_other_gradient = other.requires_grad();
  const auto is_read = [&](Reads input) {
    const auto contains = [input](Reads reads) { return reads == input || reads == Reads::both; };
    return (has_self_gradient && contains(row.for_self)) ||
           (has_other_gradient && contains(row.for_other));
  };
  return elementwise(
      form, node ? node : row.node, dtype, row.kernel,
      {save_if(is_read(Reads::self), self), save_if(is_read(Reads::other), other)},
      [to_self = row.self_gradient, to_other = row.other_gradient](Derivative& d) {
        const Tensor a = d.saved(0), b = d.saved(1);
        if (d.needs(0)) d.set(0, to_self(d.grad(), a, b));
        if (d.needs(1)) d.set(1, to_other(d.grad(), a, b));
      },
      self, other);
}

}  // namespace tend
