#include <tend/autograd/ops/arithmetic.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/math.h>

namespace tend {

namespace {

// out = a + alpha * b
auto sum_kernel(const Scalar& alpha) {
  return [alpha](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::add(out, a, b);
    kernels::add_scaled(out, a, b, alpha);
  };
}

// out = a - alpha * b
auto difference_kernel(const Scalar& alpha) {
  return [alpha](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::sub(out, a, b);
    kernels::add_scaled(out, a, b, negative(alpha));
  };
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (alpha.dtype() == float64 && !is_floating(dtype)) {
    fail<DTypeError>("add", "a floating alpha with ", dtype, " tensors");
  }
  check_holds("add", dtype, alpha);
  return record("AddBackward0", broadcast_binary("add", self, other, sum_kernel(alpha), dtype),
                {self, other}, {}, [alpha](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, scaled(d.grad(), alpha));
                });
}
const Tensor& InPlace::add_(const Tensor& other, const Scalar& alpha) const {
  check_holds("add_", self().dtype(), alpha);
  return in_place("add_", self(), other, sum_kernel(alpha),
                  [&](const Tensor& a, const Tensor& b) { return tend::add(a, b, alpha); });
}

namespace {

// self - alpha * other, for sub and (with its operands exchanged) rsub.
Tensor difference(const char* operation, const char* name, const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (self.dtype() == boolean || other.dtype() == boolean)
    fail<DTypeError>(operation, "a bool tensor has no difference; use logical_xor or logical_not");
  if (alpha.dtype() == float64 && !is_floating(dtype)) {
    fail<DTypeError>(operation, "a floating alpha with ", dtype, " tensors");
  }
  check_holds(operation, dtype, alpha);
  return record(
      name, broadcast_binary(operation, self, other, difference_kernel(alpha), dtype),
      {self, other}, {},
      [alpha](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, alpha.to<double>() == 1 ? -d.grad() : d.grad() * negative(alpha));
      },
      operation);
}

}  // namespace

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference("sub", "SubBackward0", self, other, alpha);
}
const Tensor& InPlace::sub_(const Tensor& other, const Scalar& alpha) const {
  check_holds("sub_", self().dtype(), alpha);
  return in_place("sub_", self(), other, difference_kernel(alpha),
                  [&](const Tensor& a, const Tensor& b) { return tend::sub(a, b, alpha); });
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference("rsub", "RsubBackward0", other, self, alpha);
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return difference("rsub", "RsubBackward1", number_like(self, other), self, alpha);
}

Tensor mul(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record("MulBackward0", broadcast_binary("mul", self, other, kernels::mul, dtype),
                {self, other},
                {save_if(other.requires_grad(), self), save_if(self.requires_grad(), other)},
                [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() * d.saved(1));
                  if (d.needs(1)) d.set(1, d.grad() * d.saved(0));
                });
}
const Tensor& InPlace::mul_(const Tensor& other) const {
  return in_place("mul_", self(), other, kernels::mul,
                  [](const Tensor& a, const Tensor& b) { return tend::mul(a, b); });
}

Tensor div(const Tensor& self, const Tensor& other) {
  const DType dtype = to_floating(result_type(self.array(), other.array()));
  return record("DivBackward0", broadcast_binary("div", self, other, kernels::div, dtype),
                {self, other}, {save_if(other.requires_grad(), self), other}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() / d.saved(1));
                  if (d.needs(1)) d.set(1, -d.grad() * ((d.saved(0) / d.saved(1)) / d.saved(1)));
                });
}
const Tensor& InPlace::div_(const Tensor& other) const {
  return in_place("div_", self(), other, kernels::div,
                  [](const Tensor& a, const Tensor& b) { return tend::div(a, b); });
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == boolean) fail<DTypeError>("positive", "a bool tensor has no sign");
  return self;
}

Tensor neg(const Tensor& self) {
  if (self.dtype() == boolean)
    fail<DTypeError>("neg", "a bool tensor has no negative; use logical_not");
  return record("NegBackward0", unary(self, kernels::neg, false), {self}, {},
                [](Derivative& d) { d.set(0, -d.grad()); });
}
const Tensor& InPlace::neg_() const {
  return update("neg_", self(), tend::neg);
}

Tensor abs(const Tensor& self) {
  return record("AbsBackward0", unary(self, kernels::abs, false), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * sign(d.saved(0))); });
}
const Tensor& InPlace::abs_() const {
  return update("abs_", self(), tend::abs);
}

Tensor sign(const Tensor& self) {
  return record("SignBackward0", unary(self, kernels::sign, false), {self}, {}, zero_gradient);
}
const Tensor& InPlace::sign_() const {
  return update("sign_", self(), tend::sign);
}

Tensor reciprocal(const Tensor& self) {
  return record("ReciprocalBackward0", unary(self, kernels::reciprocal), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, -d.grad() * (y * y));
                });
}
const Tensor& InPlace::reciprocal_() const {
  return update("reciprocal_", self(), tend::reciprocal);
}

namespace {

// For maximum and minimum: equal inputs get half of the gradient each; where one is NaN, both get
// all of it.
void share_gradient(Derivative& d, const Tensor& first_loses, const Tensor& second_loses) {
  const Tensor each = where(d.saved(0) == d.saved(1), d.grad() / 2, d.grad());
  if (d.needs(0)) d.set(0, masked_fill(each, first_loses, 0));
  if (d.needs(1)) d.set(1, masked_fill(each, second_loses, 0));
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record(
      "MaximumBackward0", broadcast_binary("maximum", self, other, kernels::maximum, dtype),
      {self, other}, {self, other},
      [](Derivative& d) { share_gradient(d, d.saved(0) < d.saved(1), d.saved(0) > d.saved(1)); });
}

Tensor minimum(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record(
      "MinimumBackward0", broadcast_binary("minimum", self, other, kernels::minimum, dtype),
      {self, other}, {self, other},
      [](Derivative& d) { share_gradient(d, d.saved(0) > d.saved(1), d.saved(0) < d.saved(1)); });
}

Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return add(self, number_like(self, other), alpha);
}
const Tensor& InPlace::add_(const Scalar& other, const Scalar& alpha) const {
  return add_(number_like(self(), other), alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sub(self, number_like(self, other), alpha);
}
const Tensor& InPlace::sub_(const Scalar& other, const Scalar& alpha) const {
  return sub_(number_like(self(), other), alpha);
}
Tensor mul(const Tensor& self, const Scalar& other) {
  return mul(self, number_like(self, other));
}
const Tensor& InPlace::mul_(const Scalar& other) const {
  return mul_(number_like(self(), other));
}
Tensor div(const Tensor& self, const Scalar& other) {
  return div(self, number_like(self, other));
}
const Tensor& InPlace::div_(const Scalar& other) const {
  return div_(number_like(self(), other));
}

Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha) try {
  return sub(self, other, alpha);
} catch (const Error&) {
  rename_error("subtract");
}
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha) try {
  return sub(self, other, alpha);
} catch (const Error&) {
  rename_error("subtract");
}
Tensor multiply(const Tensor& self, const Tensor& other) try {
  return mul(self, other);
} catch (const Error&) {
  rename_error("multiply");
}
Tensor multiply(const Tensor& self, const Scalar& other) try {
  return mul(self, other);
} catch (const Error&) {
  rename_error("multiply");
}
Tensor true_divide(const Tensor& self, const Tensor& other) try {
  return div(self, other);
} catch (const Error&) {
  rename_error("true_divide");
}
Tensor true_divide(const Tensor& self, const Scalar& other) try {
  return div(self, other);
} catch (const Error&) {
  rename_error("true_divide");
}

const Tensor& InPlace::subtract_(const Tensor& other, const Scalar& alpha) const try {
  return sub_(other, alpha);
} catch (const Error&) {
  rename_error("subtract_");
}
const Tensor& InPlace::subtract_(const Scalar& other, const Scalar& alpha) const try {
  return sub_(other, alpha);
} catch (const Error&) {
  rename_error("subtract_");
}
const Tensor& InPlace::multiply_(const Tensor& other) const try {
  return mul_(other);
} catch (const Error&) {
  rename_error("multiply_");
}
const Tensor& InPlace::multiply_(const Scalar& other) const try {
  return mul_(other);
} catch (const Error&) {
  rename_error("multiply_");
}
const Tensor& InPlace::true_divide_(const Tensor& other) const try {
  return div_(other);
} catch (const Error&) {
  rename_error("true_divide_");
}
const Tensor& InPlace::true_divide_(const Scalar& other) const try {
  return div_(other);
} catch (const Error&) {
  rename_error("true_divide_");
}

Tensor operator+(const Tensor& a, const Tensor& b) {
  return add(a, b);
}
Tensor operator+(const Tensor& a, const Scalar& b) {
  return add(a, b);
}
Tensor operator+(const Scalar& a, const Tensor& b) {
  return add(b, a);
}
Tensor operator-(const Tensor& a, const Tensor& b) {
  return sub(a, b);
}
Tensor operator-(const Tensor& a, const Scalar& b) {
  return sub(a, b);
}
Tensor operator-(const Scalar& a, const Tensor& b) {
  return rsub(b, a);
}
Tensor operator*(const Tensor& a, const Tensor& b) {
  return mul(a, b);
}
Tensor operator*(const Tensor& a, const Scalar& b) {
  return mul(a, b);
}
Tensor operator*(const Scalar& a, const Tensor& b) {
  return mul(b, a);
}
Tensor operator/(const Tensor& a, const Tensor& b) {
  return div(a, b);
}
Tensor operator/(const Tensor& a, const Scalar& b) {
  return div(a, b);
}
Tensor operator/(const Scalar& a, const Tensor& b) {
  return mul(reciprocal(b), a);
}
Tensor operator+(const Tensor& a) {
  return positive(a);
}
Tensor operator-(const Tensor& a) {
  return neg(a);
}

}  // namespace tend
