// The in-place twins of operations: Tensor's methods whose names end in _.
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>

namespace tend::methods {

const Tensor& InPlace::self() const {
  return static_cast<const Tensor&>(*this);
}

const Tensor& InPlace::add_(const Tensor& other, const Scalar& alpha) const {
  return in_place("add_", self(), {other},
                  [&](const Tensor& self) { return tend::add(self, other, alpha); });
}

const Tensor& InPlace::sub_(const Tensor& other, const Scalar& alpha) const {
  return in_place("sub_", self(), {other},
                  [&](const Tensor& self) { return tend::sub(self, other, alpha); });
}

const Tensor& InPlace::mul_(const Tensor& other) const {
  return in_place("mul_", self(), {other},
                  [&](const Tensor& self) { return tend::mul(self, other); });
}

const Tensor& InPlace::div_(const Tensor& other) const {
  return in_place("div_", self(), {other},
                  [&](const Tensor& self) { return tend::div(self, other); });
}

const Tensor& InPlace::add_(const Scalar& other) const {
  return add_(number_like(self(), other));
}
const Tensor& InPlace::sub_(const Scalar& other) const {
  return sub_(number_like(self(), other));
}
const Tensor& InPlace::mul_(const Scalar& other) const {
  return mul_(number_like(self(), other));
}
const Tensor& InPlace::div_(const Scalar& other) const {
  return div_(number_like(self(), other));
}

const Tensor& InPlace::floor_divide_(const Tensor& other) const {
  return in_place("floor_divide_", self(), {other},
                  [&](const Tensor& self) { return tend::floor_divide(self, other); });
}
const Tensor& InPlace::floor_divide_(const Scalar& other) const {
  return floor_divide_(number_like(self(), other));
}
const Tensor& InPlace::remainder_(const Tensor& other) const {
  return in_place("remainder_", self(), {other},
                  [&](const Tensor& self) { return tend::remainder(self, other); });
}
const Tensor& InPlace::remainder_(const Scalar& other) const {
  return in_place("remainder_", self(), {},
                  [&](const Tensor& self) { return tend::remainder(self, other); });
}
const Tensor& InPlace::pow_(const Tensor& exponent) const {
  return in_place("pow_", self(), {exponent},
                  [&](const Tensor& self) { return tend::pow(self, exponent); });
}
const Tensor& InPlace::pow_(const Scalar& exponent) const {
  return in_place("pow_", self(), {},
                  [&](const Tensor& self) { return tend::pow(self, exponent); });
}

const Tensor& InPlace::square_() const {
  return in_place("square_", self(), {}, tend::square);
}
const Tensor& InPlace::reciprocal_() const {
  return in_place("reciprocal_", self(), {}, tend::reciprocal);
}
const Tensor& InPlace::neg_() const {
  return in_place("neg_", self(), {}, tend::neg);
}
const Tensor& InPlace::abs_() const {
  return in_place("abs_", self(), {}, tend::abs);
}
const Tensor& InPlace::sign_() const {
  return in_place("sign_", self(), {}, tend::sign);
}
const Tensor& InPlace::exp_() const {
  return in_place("exp_", self(), {}, tend::exp);
}
const Tensor& InPlace::expm1_() const {
  return in_place("expm1_", self(), {}, tend::expm1);
}
const Tensor& InPlace::log_() const {
  return in_place("log_", self(), {}, tend::log);
}
const Tensor& InPlace::log1p_() const {
  return in_place("log1p_", self(), {}, tend::log1p);
}
const Tensor& InPlace::sqrt_() const {
  return in_place("sqrt_", self(), {}, tend::sqrt);
}
const Tensor& InPlace::rsqrt_() const {
  return in_place("rsqrt_", self(), {}, tend::rsqrt);
}
const Tensor& InPlace::sin_() const {
  return in_place("sin_", self(), {}, tend::sin);
}
const Tensor& InPlace::cos_() const {
  return in_place("cos_", self(), {}, tend::cos);
}
const Tensor& InPlace::tan_() const {
  return in_place("tan_", self(), {}, tend::tan);
}
const Tensor& InPlace::tanh_() const {
  return in_place("tanh_", self(), {}, tend::tanh);
}
const Tensor& InPlace::sigmoid_() const {
  return in_place("sigmoid_", self(), {}, tend::sigmoid);
}
const Tensor& InPlace::erf_() const {
  return in_place("erf_", self(), {}, tend::erf);
}
const Tensor& InPlace::floor_() const {
  return in_place("floor_", self(), {}, tend::floor);
}
const Tensor& InPlace::ceil_() const {
  return in_place("ceil_", self(), {}, tend::ceil);
}
const Tensor& InPlace::round_() const {
  return in_place("round_", self(), {}, tend::round);
}
const Tensor& InPlace::trunc_() const {
  return in_place("trunc_", self(), {}, tend::trunc);
}
const Tensor& InPlace::relu_() const {
  return in_place("relu_", self(), {}, tend::relu);
}

const Tensor& InPlace::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return in_place("masked_fill_", self(), {},
                  [&](const Tensor& self) { return tend::masked_fill(self, mask, value); });
}
const Tensor& InPlace::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return in_place("masked_fill_", self(), {value},
                  [&](const Tensor& self) { return tend::masked_fill(self, mask, value); });
}
const Tensor& InPlace::tril_(std::int64_t diagonal) const {
  return in_place("tril_", self(), {},
                  [&](const Tensor& self) { return tend::tril(self, diagonal); });
}
const Tensor& InPlace::triu_(std::int64_t diagonal) const {
  return in_place("triu_", self(), {},
                  [&](const Tensor& self) { return tend::triu(self, diagonal); });
}
const Tensor& InPlace::clamp_(const std::optional<Scalar>& lo,
                              const std::optional<Scalar>& hi) const {
  return in_place("clamp_", self(), {},
                  [&](const Tensor& self) { return tend::clamp(self, lo, hi); });
}

const Tensor& InPlace::copy_(const Tensor& source) const {
  return in_place("copy_", self(), {source}, [&](const Tensor& self) {
    if (!broadcasts_to(source.shape(), self.shape())) {
      fail<ShapeError>("copy_", source.shape(), " does not broadcast to ", self.shape());
    }
    Array value = source.array().to(self.dtype()).expand(self.shape());
    if (!is_floating(self.dtype())) return Tensor(std::move(value));
    return record("CopyBackwards", std::move(value), {self, source}, {},
                  [](Derivative& d) { d.set(1, d.grad()); });
  });
}

const Tensor& InPlace::fill_(const Scalar& value) const {
  return in_place("fill_", self(), {}, [&](const Tensor& self) {
    // The old elements count for nothing: their gradient stays unset.
    return record("FillBackward0", Array::full(self.shape(), value, self.dtype()), {self}, {},
                  [](Derivative&) {});
  });
}

}  // namespace tend::methods
