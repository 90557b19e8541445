// copy_ and fill_, which have no form that returns a new tensor. The other in-place methods are in
// autograd/ops/.
#include <tend/autograd/tensor/in_place_methods.h>

#include <tend/autograd/ops/elementwise.h>

namespace tend {
namespace {

const Tensor& copy(const char* operation, const Tensor& self, const Tensor& source) {
  return in_place_form(operation, self, [&](const Form&) {
    if (!broadcasts_to(source.shape(), self.shape()))
      fail<ShapeError>(operation, source.shape(), " does not broadcast to ", self.shape());
    const TensorRefs inputs = {self, source};
    InPlaceRun run(operation, self.dtype(), inputs, {});
    run.elements().copy_from(run.input(1));
    if (!run.is_recorded() || !is_floating(self.dtype())) return run.finish();
    run.finish(record(
        "CopyBackwards", Array(run.elements()), run.inputs(), run.saved(),
        [](Derivative& d) {
          if (d.needs(0)) d.set(0, zero_slope(d.grad()));
          if (d.needs(1)) d.set(1, d.grad());
        },
        operation));
  });
}

}  // namespace

const Tensor& InPlace::copy_(const Tensor& source) const {
  return copy("copy_", self(), source);
}

const Tensor& InPlace::fill_(const Scalar& value) const {
  return in_place_form("fill_", self(), [&](const Form& form) {
    check_holds(form.operation, self().dtype(), value);
    run(
        form, "FillBackward0", self().dtype(), {self()}, {}, [] { return Array(); },
        [&](const Array& out, const auto&) { out.fill(value); }, zero_gradient);
  });
}

const Tensor& InPlace::fill_(const Tensor& value) const {
  if (value.dim() != 0) fail<ShapeError>("fill_", "the value must be 0-d, not ", value.shape());
  return copy("fill_", self(), value);
}

}  // namespace tend
