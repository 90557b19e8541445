#include <tend/autograd/ops/arithmetic.h>

#include <tend/autograd/ops/elementwise.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/math.h>

namespace tend {
namespace {

// kernels::neg, with an error that names an alternative.
void negated(const Array& out, const Array& a) {
  if (a.dtype() == boolean)
    fail<DTypeError>("neg", "a bool tensor has no negative; use logical_not");
  kernels::neg(out, a);
}

// trunc(self / other). Its derivative is 0 everywhere, also where the derivative of the quotient is
// infinite.
Tensor truncated_quotient(const Tensor& self, const Tensor& other) {
  return record("DivBackward2", trunc(self.detach() / other.detach()).array(), {self, other}, {},
                zero_gradient, "div");
}

}  // namespace

#define TEND_TABLE <tend/autograd/ops/arithmetic_table.h>
#define TEND_ROWS_DEFINE
#include <tend/autograd/ops/row_forms.h>

namespace {

void check_factor(const char* operation, const char* name, DType dtype, const Scalar& factor) {
  if (factor.dtype() == float64 && !is_floating(dtype))
    fail<DTypeError>(operation, name, " must not be floating for ", dtype, " tensors");
  check_holds(operation, dtype, factor);
}

Tensor sum(const Form& form, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  check_factor(form.operation, "alpha", dtype, alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::add(out, a, b);
    kernels::add_scaled(out, a, b, alpha);
  };
  return elementwise(
      form, "AddBackward0", dtype, kernel, {},
      [alpha](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, scaled(d.grad(), alpha));
      },
      self, other);
}

// self - alpha * other, for sub and, with exchanged operands, for rsub.
Tensor difference(const Form& form, const char* node, const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (self.dtype() == boolean || other.dtype() == boolean) {
    fail<DTypeError>(form.operation,
                     "a bool tensor has no difference; use logical_xor or logical_not");
  }
  check_factor(form.operation, "alpha", dtype, alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::sub(out, a, b);
    kernels::add_scaled(out, a, b, negative(alpha));
  };
  return elementwise(
      form, node, dtype, kernel, {},
      [alpha](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, alpha.to<double>() == 1 ? -d.grad() : d.grad() * negative(alpha));
      },
      self, other);
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sum({"add"}, self, other, alpha);
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sum({"add"}, self, number_like(self, other), alpha);
}
const Tensor& InPlace::add_(const Tensor& other, const Scalar& alpha) const {
  check_holds("add_", self().dtype(), alpha);
  return in_place_form("add_", self(), [&](const Form& form) { sum(form, self(), other, alpha); });
}
const Tensor& InPlace::add_(const Scalar& other, const Scalar& alpha) const {
  return add_(number_like(self(), other), alpha);
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference({"sub"}, "SubBackward0", self, other, alpha);
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return difference({"sub"}, "SubBackward0", self, number_like(self, other), alpha);
}
const Tensor& InPlace::sub_(const Tensor& other, const Scalar& alpha) const {
  check_holds("sub_", self().dtype(), alpha);
  return in_place_form("sub_", self(), [&](const Form& form) {
    difference(form, "SubBackward0", self(), other, alpha);
  });
}
const Tensor& InPlace::sub_(const Scalar& other, const Scalar& alpha) const {
  return sub_(number_like(self(), other), alpha);
}

Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference({"rsub"}, "RsubBackward0", other, self, alpha);
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return difference({"rsub"}, "RsubBackward1", number_like(self, other), self, alpha);
}

// The operations under their long names.

Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference({"subtract"}, "SubBackward0", self, other, alpha);
}
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return subtract(self, number_like(self, other), alpha);
}
const Tensor& InPlace::subtract_(const Tensor& other, const Scalar& alpha) const {
  return sub_(other, alpha);
}
const Tensor& InPlace::subtract_(const Scalar& other, const Scalar& alpha) const {
  return sub_(other, alpha);
}
Tensor multiply(const Tensor& self, const Tensor& other) {
  return run_row({"multiply"}, mul_row, self, other);
}
Tensor multiply(const Tensor& self, const Scalar& other) {
  return multiply(self, number_like(self, other));
}
const Tensor& InPlace::multiply_(const Tensor& other) const {
  return mul_(other);
}
const Tensor& InPlace::multiply_(const Scalar& other) const {
  return mul_(other);
}
Tensor true_divide(const Tensor& self, const Tensor& other) {
  return run_row({"true_divide"}, div_row, self, other);
}
Tensor true_divide(const Tensor& self, const Scalar& other) {
  return true_divide(self, number_like(self, other));
}
const Tensor& InPlace::true_divide_(const Tensor& other) const {
  return div_(other);
}
const Tensor& InPlace::true_divide_(const Scalar& other) const {
  return div_(other);
}

namespace {

constexpr BinaryRow kTruncatedDivision{"DivBackward2",
                                       Promotion::same,
                                       kernels::trunc_divide,
                                       Reads::nothing,
                                       floor_divide_self_gradient,
                                       Reads::nothing,
                                       floor_divide_other_gradient};

Tensor div(const Form& form, const Tensor& self, const Tensor& other,
           const std::optional<OrWord<RoundingMode>>& rounding_mode) {
  if (!rounding_mode) return run_row(form, div_row, self, other);
  const bool floors = *rounding_mode == RoundingMode::floor;
  return run_row(form, floors ? floor_divide_row : kTruncatedDivision, self, other);
}

}  // namespace

Tensor div(const Tensor& self, const Tensor& other,
           std::optional<OrWord<RoundingMode>> rounding_mode) {
  return div({"div"}, self, other, rounding_mode);
}
Tensor div(const Tensor& self, const Scalar& other,
           std::optional<OrWord<RoundingMode>> rounding_mode) {
  return div({"div"}, self, number_like(self, other), rounding_mode);
}
const Tensor& InPlace::div_(const Tensor& other,
                            std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return in_place_form("div_", self(),
                       [&](const Form& form) { div(form, self(), other, rounding_mode); });
}
const Tensor& InPlace::div_(const Scalar& other,
                            std::optional<OrWord<RoundingMode>> rounding_mode) const {
  return div_(number_like(self(), other), rounding_mode);
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == boolean) fail<DTypeError>("positive", "a bool tensor has no sign");
  return self;
}

namespace {

// The gradients of maximum and minimum. Two equal inputs get half of the gradient each. If one
// input is NaN, both get the whole gradient.
void share_gradient(Derivative& d, const Tensor& first_loses, const Tensor& second_loses) {
  const Tensor each = where(d.saved(0) == d.saved(1), d.grad() / 2, d.grad());
  if (d.needs(0)) d.set(0, masked_fill(each, first_loses, 0));
  if (d.needs(1)) d.set(1, masked_fill(each, second_loses, 0));
}

}  // namespace

Tensor maximum(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return elementwise(
      {"maximum"}, "MaximumBackward0", dtype, kernels::maximum, {self, other},
      [](Derivative& d) { share_gradient(d, d.saved(0) < d.saved(1), d.saved(0) > d.saved(1)); },
      self, other);
}

Tensor minimum(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return elementwise(
      {"minimum"}, "MinimumBackward0", dtype, kernels::minimum, {self, other},
      [](Derivative& d) { share_gradient(d, d.saved(0) > d.saved(1), d.saved(0) < d.saved(1)); },
      self, other);
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
Tensor operator%(const Tensor& a, const Tensor& b) {
  return remainder(a, b);
}
Tensor operator%(const Tensor& a, const Scalar& b) {
  return remainder(a, b);
}
Tensor operator%(const Scalar& a, const Tensor& b) {
  return remainder(a, b);
}
Tensor operator+(const Tensor& a) {
  return positive(a);
}
Tensor operator-(const Tensor& a) {
  return neg(a);
}

}  // namespace tend
