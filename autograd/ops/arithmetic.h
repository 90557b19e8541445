// Elementwise arithmetic with broadcasting and PyTorch's type promotion.
#pragma once

#include <tend/core/array.h>

namespace tend {

class Tensor;

// Every function here takes tensors whose shapes broadcast (ShapeError) and gives the dtype of
// torch.result_type; a Scalar does not raise the dtype within its category.

/// self + alpha * other. For bool, "or".
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Scalar& other);

/// self - alpha * other; DTypeError for bool, as PyTorch has it.
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other);

/// other - alpha * self, sub with its operands exchanged.
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);

/// self * other. For bool, "and".
Tensor mul(const Tensor& self, const Tensor& other);
Tensor mul(const Tensor& self, const Scalar& other);

/// True division: integers give float32.
Tensor div(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Scalar& other);

/// Python's self // other, rounded towards minus infinity, with gradient zero. Not for two bools
/// (DTypeError); Error for an integer division by zero.
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, const Scalar& other);

/// Python's self % other, which has other's sign: self - other * floor(self / other). Not for two
/// bools (DTypeError); Error for an integer division by zero. The gradient of other is
/// -floor(self / other).
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, const Scalar& other);

/// C's fmod, which has self's sign: self - other * trunc(self / other). Not for two bools
/// (DTypeError); Error for an integer division by zero. The gradient of other is
/// -trunc(self / other).
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, const Scalar& other);

/// self to the power of exponent; not for two bools (DTypeError). An integer to a negative power is
/// its truncated value, and an Error when the exponent is a number.
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);
/// self * self
Tensor square(const Tensor& self);
/// 1 / self; integers give float32.
Tensor reciprocal(const Tensor& self);

/// The larger (smaller) of the two, NaN where either is; equal ones share the gradient.
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);

/// self + value * tensor1 * tensor2, all three broadcast (ShapeError) and promoted. DTypeError for
/// bools, and for a floating value when all are integers.
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
/// self + value * tensor1 / tensor2, all three broadcast (ShapeError) and promoted. One of tensor1
/// and tensor2 is floating (DTypeError).
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);

/// self + weight * (end - self), in the form that meets self at weight 0 and end at weight 1
/// exactly. All broadcast (ShapeError) and have one floating dtype (DTypeError).
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);

/// self itself; DTypeError for bool.
Tensor positive(const Tensor& self);
/// -self; DTypeError for bool.
Tensor neg(const Tensor& self);
/// |self|, with gradient 0 at 0; DTypeError for bool.
Tensor abs(const Tensor& self);
/// -1, 0 or 1; 0 for NaN. The gradient is zero.
Tensor sign(const Tensor& self);

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, const Scalar& b);
Tensor operator+(const Scalar& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Scalar& b);
Tensor operator-(const Scalar& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Scalar& b);
Tensor operator*(const Scalar& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Scalar& b);
Tensor operator/(const Scalar& a, const Tensor& b);
Tensor operator+(const Tensor& a);
Tensor operator-(const Tensor& a);

}  // namespace tend
