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

const Tensor& Tensor::floor_divide_(const Tensor& other) const {
  return in_place("floor_divide_", *this, {other},
                  [&](const Tensor& self) { return tend::floor_divide(self, other); });
}
const Tensor& Tensor::floor_divide_(const Scalar& other) const {
  return floor_divide_(number_like(*this, other));
}
const Tensor& Tensor::remainder_(const Tensor& other) const {
  return in_place("remainder_", *this, {other},
                  [&](const Tensor& self) { return tend::remainder(self, other); });
}
const Tensor& Tensor::remainder_(const Scalar& other) const {
  return in_place("remainder_", *this, {},
                  [&](const Tensor& self) { return tend::remainder(self, other); });
}
const Tensor& Tensor::pow_(const Tensor& exponent) const {
  return in_place("pow_", *this, {exponent},
                  [&](const Tensor& self) { return tend::pow(self, exponent); });
}
const Tensor& Tensor::pow_(const Scalar& exponent) const {
  return in_place("pow_", *this, {}, [&](const Tensor& self) { return tend::pow(self, exponent); });
}

const Tensor& Tensor::square_() const {
  return in_place("square_", *this, {}, tend::square);
}
const Tensor& Tensor::reciprocal_() const {
  return in_place("reciprocal_", *this, {}, tend::reciprocal);
}
const Tensor& Tensor::neg_() const {
  return in_place("neg_", *this, {}, tend::neg);
}
const Tensor& Tensor::abs_() const {
  return in_place("abs_", *this, {}, tend::abs);
}
const Tensor& Tensor::sign_() const {
  return in_place("sign_", *this, {}, tend::sign);
}
const Tensor& Tensor::exp_() const {
  return in_place("exp_", *this, {}, tend::exp);
}
const Tensor& Tensor::expm1_() const {
  return in_place("expm1_", *this, {}, tend::expm1);
}
const Tensor& Tensor::log_() const {
  return in_place("log_", *this, {}, tend::log);
}
const Tensor& Tensor::log1p_() const {
  return in_place("log1p_", *this, {}, tend::log1p);
}
const Tensor& Tensor::sqrt_() const {
  return in_place("sqrt_", *this, {}, tend::sqrt);
}
const Tensor& Tensor::rsqrt_() const {
  return in_place("rsqrt_", *this, {}, tend::rsqrt);
}
const Tensor& Tensor::sin_() const {
  return in_place("sin_", *this, {}, tend::sin);
}
const Tensor& Tensor::cos_() const {
  return in_place("cos_", *this, {}, tend::cos);
}
const Tensor& Tensor::tan_() const {
  return in_place("tan_", *this, {}, tend::tan);
}
const Tensor& Tensor::tanh_() const {
  return in_place("tanh_", *this, {}, tend::tanh);
}
const Tensor& Tensor::sigmoid_() const {
  return in_place("sigmoid_", *this, {}, tend::sigmoid);
}
const Tensor& Tensor::erf_() const {
  return in_place("erf_", *this, {}, tend::erf);
}
const Tensor& Tensor::floor_() const {
  return in_place("floor_", *this, {}, tend::floor);
}
const Tensor& Tensor::ceil_() const {
  return in_place("ceil_", *this, {}, tend::ceil);
}
const Tensor& Tensor::round_() const {
  return in_place("round_", *this, {}, tend::round);
}
const Tensor& Tensor::trunc_() const {
  return in_place("trunc_", *this, {}, tend::trunc);
}
const Tensor& Tensor::relu_() const {
  return in_place("relu_", *this, {}, tend::relu);
}

const Tensor& Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
  return in_place("masked_fill_", *this, {},
                  [&](const Tensor& self) { return tend::masked_fill(self, mask, value); });
}
const Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return in_place("masked_fill_", *this, {value},
                  [&](const Tensor& self) { return tend::masked_fill(self, mask, value); });
}
const Tensor& Tensor::tril_(std::int64_t diagonal) const {
  return in_place("tril_", *this, {},
                  [&](const Tensor& self) { return tend::tril(self, diagonal); });
}
const Tensor& Tensor::triu_(std::int64_t diagonal) const {
  return in_place("triu_", *this, {},
                  [&](const Tensor& self) { return tend::triu(self, diagonal); });
}
const Tensor& Tensor::clamp_(const std::optional<Scalar>& lo,
                             const std::optional<Scalar>& hi) const {
  return in_place("clamp_", *this, {},
                  [&](const Tensor& self) { return tend::clamp(self, lo, hi); });
}

const Tensor& Tensor::copy_(const Tensor& source) const {
  return in_place("copy_", *this, {source}, [&](const Tensor& self) {
    if (!broadcasts_to(source.shape(), self.shape())) {
      fail<ShapeError>("copy_", source.shape(), " does not broadcast to ", self.shape());
    }
    Array value = source.array().to(self.dtype()).expand(self.shape());
    if (!is_floating(self.dtype())) return Tensor(std::move(value));
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
