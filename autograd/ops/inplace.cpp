// The in-place twins of operations: Tensor's methods whose names end in _.
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend {

const Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  return in_place("add_", *this, {other},
                  [&](const Tensor& self) { return tend::add(self, other, alpha); });
}

const Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
  return in_place("sub_", *this, {other},
                  [&](const Tensor& self) { return tend::sub(self, other, alpha); });
}

const Tensor& Tensor::mul_(const Tensor& other) const {
  return in_place("mul_", *this, {other},
                  [&](const Tensor& self) { return tend::mul(self, other); });
}

const Tensor& Tensor::div_(const Tensor& other) const {
  return in_place("div_", *this, {other},
                  [&](const Tensor& self) { return tend::div(self, other); });
}

const Tensor& Tensor::add_(const Scalar& other) const {
  return add_(number_like(*this, other));
}
const Tensor& Tensor::sub_(const Scalar& other) const {
  return sub_(number_like(*this, other));
}
const Tensor& Tensor::mul_(const Scalar& other) const {
  return mul_(number_like(*this, other));
}
const Tensor& Tensor::div_(const Scalar& other) const {
  return div_(number_like(*this, other));
}

const Tensor& Tensor::copy_(const Tensor& source) const {
  return in_place("copy_", *this, {source}, [&](const Tensor& self) {
    Array value = source.array().to(self.dtype()).expand(self.shape());
    return record("CopyBackwards", std::move(value), {self, source}, {},
                  [](Derivative& d) { d.set(1, d.grad()); });
  });
}

const Tensor& Tensor::fill_(const Scalar& value) const {
  return in_place("fill_", *this, {}, [&](const Tensor& self) {
    // The old elements count for nothing: their gradient stays unset.
    return record("FillBackward0", Array::full(self.shape(), value, self.dtype()), {self}, {},
                  [](Derivative&) {});
  });
}

}  // namespace tend
