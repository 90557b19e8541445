// copy_ and fill_: in-place methods that are not the twins of an operation.
#include <tend/autograd/ops/helpers.h>

namespace tend {

const Tensor& InPlace::copy_(const Tensor& source) const {
  return in_place("copy_", self(), {source}, [&](const Tensor& self) {
    if (!broadcasts_to(source.shape(), self.shape())) {
      fail<ShapeError>("copy_", source.shape(), " does not broadcast to ", self.shape());
    }
    Array value = source.array().to(self.dtype()).expand(self.shape());
    if (!is_floating(self.dtype())) return constant(std::move(value), {self, source}, "copy_");
    return record(
        "CopyBackwards", std::move(value), {self, source}, {},
        [](Derivative& d) {
          if (d.needs(0)) d.set(0, zeros(d.grad().shape(), d.grad().dtype()));
          if (d.needs(1)) d.set(1, d.grad());
        },
        "copy_");
  });
}

const Tensor& InPlace::fill_(const Scalar& value) const {
  return in_place("fill_", self(), {}, [&](const Tensor& self) {
    check_holds("fill_", self.dtype(), value);
    return record("FillBackward0", Array::full(self.shape(), value, self.dtype()), {self}, {},
                  zero_gradient, "fill_");
  });
}

const Tensor& InPlace::fill_(const Tensor& value) const try {
  if (value.dim() != 0) fail<ShapeError>("fill_", "the value must be 0-d, not ", value.shape());
  return copy_(value);
} catch (const Error&) {
  rename_error("fill_");
}

}  // namespace tend
