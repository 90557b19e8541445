#include <tend/autograd/ops/arithmetic.h>

#include <tend/autograd/ops/helpers.h>
#include <tend/core/kernels/arithmetic.h>
#include <tend/core/kernels/math.h>

namespace tend {

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (alpha.dtype() == float64 && !is_floating(dtype)) {
    fail<DTypeError>("add", "a floating alpha with ", dtype, " tensors");
  }
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::add(out, a, b);
    kernels::add_scaled(out, a, b, alpha.to<double>());
  };
  return record("AddBackward0", broadcast_binary("add", self, other, kernel, dtype), {self, other},
                {}, [alpha](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, alpha.to<double>() == 1 ? d.grad() : d.grad() * alpha);
                });
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (self.dtype() == boolean || other.dtype() == boolean)
    fail<DTypeError>("sub", "a bool tensor has no difference; use logical_xor or logical_not");
  if (alpha.dtype() == float64 && !is_floating(dtype)) {
    fail<DTypeError>("sub", "a floating alpha with ", dtype, " tensors");
  }
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::sub(out, a, b);
    kernels::add_scaled(out, a, b, -alpha.to<double>());
  };
  return record("SubBackward0", broadcast_binary("sub", self, other, kernel, dtype), {self, other},
                {}, [alpha](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1))
                    d.set(1, alpha.to<double>() == 1 ? -d.grad() : d.grad() * -alpha.to<double>());
                });
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

Tensor div(const Tensor& self, const Tensor& other) {
  const DType dtype = to_floating(result_type(self.array(), other.array()));
  return record("DivBackward0", broadcast_binary("div", self, other, kernels::div, dtype),
                {self, other}, {save_if(other.requires_grad(), self), other}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() / d.saved(1));
                  if (d.needs(1)) d.set(1, -d.grad() * ((d.saved(0) / d.saved(1)) / d.saved(1)));
                });
}

Tensor neg(const Tensor& self) {
  if (self.dtype() == boolean)
    fail<DTypeError>("neg", "a bool tensor has no negative; use logical_not");
  return record("NegBackward0", unary(self, kernels::neg, false), {self}, {},
                [](Derivative& d) { d.set(0, -d.grad()); });
}

Tensor abs(const Tensor& self) {
  return record("AbsBackward0", unary(self, kernels::abs, false), {self}, {self},
                [](Derivative& d) { d.set(0, d.grad() * sign(d.saved(0))); });
}

Tensor sign(const Tensor& self) {
  return record("SignBackward0", unary(self, kernels::sign, false), {self}, {}, zero_gradient);
}

Tensor reciprocal(const Tensor& self) {
  return record("ReciprocalBackward0", unary(self, kernels::reciprocal), {self}, {kOutput},
                [](Derivative& d) {
                  const Tensor y = d.saved(0);
                  d.set(0, -d.grad() * (y * y));
                });
}

Tensor floor_divide(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self.array(), other.array());
  return record("FloorDivideBackward",
                broadcast_binary("floor_divide", self, other, kernels::floor_divide, dtype),
                {self, other}, {}, zero_gradient);
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

namespace {

// Of maximum and minimum: equal inputs get half of the gradient each; where one is NaN, both get
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

Tensor add(const Tensor& self, const Scalar& other) {
  return add(self, number_like(self, other));
}
Tensor sub(const Tensor& self, const Scalar& other) {
  return sub(self, number_like(self, other));
}
Tensor mul(const Tensor& self, const Scalar& other) {
  return mul(self, number_like(self, other));
}
Tensor div(const Tensor& self, const Scalar& other) {
  return div(self, number_like(self, other));
}

Tensor floor_divide(const Tensor& self, const Scalar& other) {
  return floor_divide(self, number_like(self, other));
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
  return sub(number_like(b, a), b);
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
  return div(number_like(b, a), b);
}
Tensor operator-(const Tensor& a) {
  return neg(a);
}

}  // namespace tend
