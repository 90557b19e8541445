// The in-place twins of operations: Tensor's methods whose names end in _.
#include <tend/autograd/inplace.h>
#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/arithmetic.h>

namespace tend::methods {

const Tensor& InPlace::self() const {
  return static_cast<const Tensor&>(*this);
}

const Tensor& InPlace::add_(const Tensor& other, const Scalar& alpha) const {
  check_holds("add_", self().dtype(), alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::add(out, a, b);
    kernels::add_scaled(out, a, b, alpha);
  };
  return in_place("add_", self(), other, kernel,
                  [&](const Tensor& a, const Tensor& b) { return tend::add(a, b, alpha); });
}

const Tensor& InPlace::sub_(const Tensor& other, const Scalar& alpha) const {
  check_holds("sub_", self().dtype(), alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::sub(out, a, b);
    kernels::add_scaled(out, a, b, negative(alpha));
  };
  return in_place("sub_", self(), other, kernel,
                  [&](const Tensor& a, const Tensor& b) { return tend::sub(a, b, alpha); });
}

const Tensor& InPlace::mul_(const Tensor& other) const {
  return in_place("mul_", self(), other, kernels::mul,
                  [](const Tensor& a, const Tensor& b) { return tend::mul(a, b); });
}

const Tensor& InPlace::div_(const Tensor& other) const {
  return in_place("div_", self(), other, kernels::div,
                  [](const Tensor& a, const Tensor& b) { return tend::div(a, b); });
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
const Tensor& InPlace::fmod_(const Tensor& other) const {
  return in_place("fmod_", self(), {other},
                  [&](const Tensor& self) { return tend::fmod(self, other); });
}
const Tensor& InPlace::fmod_(const Scalar& other) const {
  return in_place("fmod_", self(), {}, [&](const Tensor& self) { return tend::fmod(self, other); });
}
const Tensor& InPlace::pow_(const Tensor& exponent) const {
  return in_place("pow_", self(), {exponent},
                  [&](const Tensor& self) { return tend::pow(self, exponent); });
}
const Tensor& InPlace::pow_(const Scalar& exponent) const {
  return in_place("pow_", self(), {},
                  [&](const Tensor& self) { return tend::pow(self, exponent); });
}

const Tensor& InPlace::addcmul_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return in_place("addcmul_", self(), {tensor1, tensor2},
                  [&](const Tensor& self) { return tend::addcmul(self, tensor1, tensor2, value); });
}
const Tensor& InPlace::addcdiv_(const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value) const {
  return in_place("addcdiv_", self(), {tensor1, tensor2},
                  [&](const Tensor& self) { return tend::addcdiv(self, tensor1, tensor2, value); });
}
const Tensor& InPlace::lerp_(const Tensor& end, const Tensor& weight) const {
  return in_place("lerp_", self(), {end, weight},
                  [&](const Tensor& self) { return tend::lerp(self, end, weight); });
}
const Tensor& InPlace::lerp_(const Tensor& end, const Scalar& weight) const {
  return in_place("lerp_", self(), {end},
                  [&](const Tensor& self) { return tend::lerp(self, end, weight); });
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
const Tensor& InPlace::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                              const Scalar& alpha) const {
  return in_place("addmm_", self(), {mat1, mat2},
                  [&](const Tensor& self) { return tend::addmm(self, mat1, mat2, beta, alpha); });
}
const Tensor& InPlace::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta,
                              const Scalar& alpha) const {
  return in_place("addmv_", self(), {mat, vec},
                  [&](const Tensor& self) { return tend::addmv(self, mat, vec, beta, alpha); });
}
const Tensor& InPlace::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                                const Scalar& alpha) const {
  return in_place("baddbmm_", self(), {batch1, batch2}, [&](const Tensor& self) {
    return tend::baddbmm(self, batch1, batch2, beta, alpha);
  });
}
const Tensor& InPlace::addbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                               const Scalar& alpha) const {
  return in_place("addbmm_", self(), {batch1, batch2}, [&](const Tensor& self) {
    return tend::addbmm(self, batch1, batch2, beta, alpha);
  });
}

const Tensor& InPlace::copy_(const Tensor& source) const {
  return in_place("copy_", self(), {source}, [&](const Tensor& self) {
    if (!broadcasts_to(source.shape(), self.shape())) {
      fail<ShapeError>("copy_", source.shape(), " does not broadcast to ", self.shape());
    }
    Array value = source.array().to(self.dtype()).expand(self.shape());
    if (!is_floating(self.dtype())) return Tensor(std::move(value));
    return record("CopyBackwards", std::move(value), {self, source}, {}, [](Derivative& d) {
      if (d.needs(0)) d.set(0, zeros(d.grad().shape(), d.grad().dtype()));
      if (d.needs(1)) d.set(1, d.grad());
    });
  });
}

const Tensor& InPlace::fill_(const Scalar& value) const {
  return in_place("fill_", self(), {}, [&](const Tensor& self) {
    check_holds("fill_", self.dtype(), value);
    return record("FillBackward0", Array::full(self.shape(), value, self.dtype()), {self}, {},
                  zero_gradient);
  });
}

}  // namespace tend::methods
