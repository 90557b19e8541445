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
  check_holds("add", dtype, alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::add(out, a, b);
    kernels::add_scaled(out, a, b, alpha);
  };
  return record("AddBackward0", broadcast_binary("add", self, other, kernel, dtype), {self, other},
                {}, [alpha](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, scaled(d.grad(), alpha));
                });
}

namespace {

// self - alpha * other, of sub and (with its operands exchanged) rsub.
Tensor difference(const char* operation, const char* name, const Tensor& self, const Tensor& other,
                  const Scalar& alpha) {
  const DType dtype = result_type(self.array(), other.array());
  if (self.dtype() == boolean || other.dtype() == boolean)
    fail<DTypeError>(operation, "a bool tensor has no difference; use logical_xor or logical_not");
  if (alpha.dtype() == float64 && !is_floating(dtype)) {
    fail<DTypeError>(operation, "a floating alpha with ", dtype, " tensors");
  }
  check_holds(operation, dtype, alpha);
  const auto kernel = [&](const Array& out, const Array& a, const Array& b) {
    if (alpha.to<double>() == 1) return kernels::sub(out, a, b);
    kernels::add_scaled(out, a, b, negative(alpha));
  };
  return record(name, broadcast_binary(operation, self, other, kernel, dtype), {self, other}, {},
                [alpha](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1))
                    d.set(1, alpha.to<double>() == 1 ? -d.grad() : d.grad() * negative(alpha));
                });
}

}  // namespace

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return difference("sub", "SubBackward0", self, other, alpha);
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

Tensor div(const Tensor& self, const Tensor& other) {
  const DType dtype = to_floating(result_type(self.array(), other.array()));
  return record("DivBackward0", broadcast_binary("div", self, other, kernels::div, dtype),
                {self, other}, {save_if(other.requires_grad(), self), other}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() / d.saved(1));
                  if (d.needs(1)) d.set(1, -d.grad() * ((d.saved(0) / d.saved(1)) / d.saved(1)));
                });
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

// trunc(self / other), flat everywhere: also where the quotient's derivatives are infinite.
Tensor truncated_quotient(const Tensor& self, const Tensor& other) {
  return record("DivBackward2", trunc(self.detach() / other.detach()).array(), {self, other}, {},
                zero_gradient);
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

namespace {

// self + value * product
Array plus_scaled(const char* operation, const Tensor& self, const Array& product,
                  const Scalar& value, DType dtype) {
  Array out = Array::empty(broadcast_shapes(operation, self.shape(), product.shape()), dtype);
  kernels::add_scaled(out, self.array().to(dtype), product, value);
  return out;
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  if (dtype == boolean) fail<DTypeError>("addcmul", "bool tensors have no sum; use logical_or");
  if (value.dtype() == float64 && !is_floating(dtype))
    fail<DTypeError>("addcmul", "a floating value with ", dtype, " tensors");
  check_holds("addcmul", dtype, value);
  const Array product = broadcast_binary("addcmul", tensor1, tensor2, kernels::mul, dtype);
  return record(
      "AddcmulBackward0", plus_scaled("addcmul", self, product, value, dtype),
      {self, tensor1, tensor2},
      {save_if(tensor2.requires_grad(), tensor1), save_if(tensor1.requires_grad(), tensor2)},
      [value](Derivative& d) {
        if (d.needs(0)) d.set(0, d.grad());
        if (d.needs(1)) d.set(1, d.grad() * (d.saved(1) * value));
        if (d.needs(2)) d.set(2, d.grad() * (d.saved(0) * value));
      });
}

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value) {
  if (!is_floating(tensor1.dtype()) && !is_floating(tensor2.dtype())) {
    fail<DTypeError>("addcdiv", "integer division: tensor1 is ", tensor1.dtype(), ", tensor2 ",
                     tensor2.dtype(), "; one of them must be floating");
  }
  const DType dtype = result_type({&self.array(), &tensor1.array(), &tensor2.array()});
  check_holds("addcdiv", dtype, value);
  const Array quotient = broadcast_binary("addcdiv", tensor1, tensor2, kernels::div, dtype);
  return record("AddcdivBackward0", plus_scaled("addcdiv", self, quotient, value, dtype),
                {self, tensor1, tensor2}, {save_if(tensor2.requires_grad(), tensor1), tensor2},
                [value](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad());
                  if (d.needs(1)) d.set(1, d.grad() * value / d.saved(1));
                  if (d.needs(2))
                    d.set(2, -d.grad() * value * ((d.saved(0) / d.saved(1)) / d.saved(1)));
                });
}

namespace {

Tensor lerp(const char* name, const Tensor& self, const Tensor& end, const Tensor& weight) {
  if (end.dtype() != self.dtype() || weight.dtype() != self.dtype()) {
    fail<DTypeError>("lerp", "the dtypes differ: self is ", self.dtype(), ", end ", end.dtype(),
                     ", weight ", weight.dtype());
  }
  const Shape ends = broadcast_shapes("lerp", self.shape(), end.shape());
  Array out = Array::empty(broadcast_shapes("lerp", ends, weight.shape()), self.dtype());
  kernels::lerp(out, self.array(), end.array(), weight.array());
  const bool with_slope = weight.requires_grad();
  return record(name, std::move(out), {self, end, weight},
                {save_if(with_slope, self), save_if(with_slope, end), weight}, [](Derivative& d) {
                  if (d.needs(0)) d.set(0, d.grad() * (1 - d.saved(2)));
                  if (d.needs(1)) d.set(1, d.grad() * d.saved(2));
                  if (d.needs(2)) d.set(2, d.grad() * (d.saved(1) - d.saved(0)));
                });
}

}  // namespace

Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return lerp("LerpBackward1", self, end, weight);
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
  check_holds("lerp", self.dtype(), weight);
  return lerp("LerpBackward0", self, end, Tensor(Array::scalar(weight, self.dtype())));
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
