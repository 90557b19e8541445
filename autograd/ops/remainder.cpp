// floor_divide, remainder and fmod: declared in arithmetic.h.
#include <tend/autograd/ops/arithmetic.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend {

Tensor floor_divide(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record("FloorDivideBackward",
                broadcast_binary("floor_divide", self, other, kernels::floor_divide, dtype),
                {self, other}, {}, zero_gradient);
}
Tensor floor_divide(const Tensor& self, const Scalar& other) {
  return floor_divide(self, number_like(self, other));
}
Tensor floor_divide(const Scalar& self, const Tensor& other) {
  return floor_divide(number_like(other, self), other);
}
const Tensor& InPlace::floor_divide_(const Scalar& other) const {
  return floor_divide_(number_like(self(), other));
}
const Tensor& InPlace::floor_divide_(const Tensor& other) const {
  return update("floor_divide_", self(), tend::floor_divide, other);
}

namespace {

Tensor remainder(const char* name, const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  const bool with_slope = other.requires_grad();
  return record(name, broadcast_binary("remainder", self, other, kernels::remainder, dtype),
                {self, other}, {save_if(with_slope, self), save_if(with_slope, other)},
                [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, -d.grad() * floor_divide(d.saved(0), d.saved(1)));
                });
}

}  // namespace

Tensor remainder(const Tensor& self, const Tensor& other) {
  return remainder("RemainderBackward1", self, other);
}
Tensor remainder(const Tensor& self, const Scalar& other) {
  return remainder("RemainderBackward0", self, number_like(self, other));
}
Tensor remainder(const Scalar& self, const Tensor& other) {
  return remainder("RemainderBackward1", number_like(other, self), other);
}
Tensor div(const Tensor& self, const Tensor& other,
           std::optional<OrWord<RoundingMode>> rounding_mode) try {
  if (!rounding_mode) return div(self, other);
  if (*rounding_mode == RoundingMode::floor) return floor_divide(self, other);
  const DType dtype = result_type(self.array(), other.array());
  return record("DivBackward2", broadcast_binary("div", self, other, kernels::trunc_divide, dtype),
                {self, other}, {}, zero_gradient);
} catch (const Error&) {
  rename_error("div");
}
Tensor div(const Tensor& self, const Scalar& other,
           std::optional<OrWord<RoundingMode>> rounding_mode) {
  if (!rounding_mode) return div(self, other);
  return div(self, number_like(self, other), rounding_mode);
}

const Tensor& InPlace::div_(const Tensor& other,
                            std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return update("div_", self(), tend::div, other, rounding_mode);
}
const Tensor& InPlace::div_(const Scalar& other,
                            std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return update("div_", self(), tend::div, other, rounding_mode);
}

Tensor operator%(const Tensor& a, const Tensor& b) {
  return remainder(a, b);
}
Tensor operator%(const Tensor& a, const Scalar& b) {
  return remainder(a, b);
}
Tensor operator%(const Scalar& a, const Tensor& b) {
  return remainder(a, b);
}
const Tensor& InPlace::remainder_(const Tensor& other) const {
  return update("remainder_", self(), tend::remainder, other);
}
const Tensor& InPlace::remainder_(const Scalar& other) const {
  return update("remainder_", self(), tend::remainder, other);
}

namespace {

// trunc(self / other) with derivative 0 everywhere, also where that of the quotient is infinite.
Tensor truncated_quotient(const Tensor& self, const Tensor& other) {
  return record("DivBackward2", trunc(self.detach() / other.detach()).array(), {self, other}, {},
                zero_gradient, "div");
}

Tensor fmod(const char* name, const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  const bool with_slope = other.requires_grad();
  return record(name, broadcast_binary("fmod", self, other, kernels::fmod, dtype), {self, other},
                {save_if(with_slope, self), save_if(with_slope, other)}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, -d.grad() * truncated_quotient(d.saved(0), d.saved(1)));
                });
}

}  // namespace

Tensor fmod(const Tensor& self, const Tensor& other) {
  return fmod("FmodBackward1", self, other);
}
Tensor fmod(const Tensor& self, const Scalar& other) {
  return fmod("FmodBackward0", self, number_like(self, other));
}
Tensor fmod(const Scalar& self, const Tensor& other) {
  return fmod("FmodBackward1", number_like(other, self), other);
}
const Tensor& InPlace::fmod_(const Tensor& other) const {
  return update("fmod_", self(), tend::fmod, other);
}
const Tensor& InPlace::fmod_(const Scalar& other) const {
  return update("fmod_", self(), tend::fmod, other);
}

}  // namespace tend
