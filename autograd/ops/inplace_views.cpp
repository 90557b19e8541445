// In-place twins that change no element: the tensor becomes another view of its elements.
#include <tend/autograd/grad_mode.h>
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::methods {
namespace {

// self = view(self) for every handle of self.
template <class View>
const Tensor& become(const char* operation, const Tensor& self, View view) try {
  check_history_writable(operation, self);
  TensorImpl& impl = *self.impl();
  // What self has been until now: its elements, with its history.
  Tensor before(self.array());
  before.impl()->set_grad_fn(gradient_edge(self).node);
  // In any mode, since the history would otherwise be that of another shape.
  const GradModeGuard recorded(true);
  const Tensor result = view(before);
  Array window = result.array();
  const bool changes =
      window.shape() != impl.array.shape() || window.strides() != impl.array.strides();
  if (changes) impl.take_new_slot(impl.prepare_new_slot());
  impl.array = std::move(window);
  if (result.impl()->grad_fn) impl.set_grad_fn(result.impl()->grad_fn);
  impl.array.storage()->bump_version(operation);
  // No element has changed, so the history of a view holds for the new version.
  impl.base_version = impl.array.storage()->version();
  return self;
} catch (const Error&) {
  rename_error(operation);
}

}  // namespace

const Tensor& InPlace::transpose_(std::int64_t dim0, std::int64_t dim1) const {
  return become("transpose_", self(), [=](const Tensor& x) { return transpose(x, dim0, dim1); });
}
const Tensor& InPlace::swapaxes_(std::int64_t dim0, std::int64_t dim1) const {
  return become("swapaxes_", self(), [=](const Tensor& x) { return transpose(x, dim0, dim1); });
}
const Tensor& InPlace::t_() const {
  return become("t_", self(), [](const Tensor& x) { return t(x); });
}
const Tensor& InPlace::squeeze_() const {
  return become("squeeze_", self(), [](const Tensor& x) { return squeeze(x); });
}
const Tensor& InPlace::squeeze_(std::int64_t dim) const {
  return become("squeeze_", self(), [=](const Tensor& x) { return squeeze(x, dim); });
}
const Tensor& InPlace::squeeze_(const Shape& dims) const {
  return become("squeeze_", self(), [&](const Tensor& x) { return squeeze(x, dims); });
}
const Tensor& InPlace::unsqueeze_(std::int64_t dim) const {
  return become("unsqueeze_", self(), [=](const Tensor& x) { return unsqueeze(x, dim); });
}

}  // namespace tend::methods
