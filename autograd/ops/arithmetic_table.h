// The table of arithmetic.h. row_forms.h explains the rows.
// clang-format off
// (clang-format would format products as pointers.)

///@{
/// Computes self * other, element by element.
///
/// The inputs broadcast, and their dtypes promote. For bool it is the logical "and". The gradient
/// of self is other, and the gradient of other is self.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_BINARY(mul, "MulBackward0", same, kernels::mul, other, grad * other, self, grad * self)
TEND_WITH_NUMBER(mul, "MulBackward0")
///@}

///@{
/// Computes self / other, element by element, without rounding.
///
/// The inputs broadcast, and their dtypes promote; integers give float32. The gradient of self is 1
/// / other, and the gradient of other is -self / other^2.
///
/// Throws: ShapeError - the shapes do not broadcast
TEND_BINARY(div, "DivBackward0", floating, kernels::div, other, grad / other, both,
            -grad * ((self / other) / other))
TEND_WITH_NUMBER(div, "DivBackward0")
///@}

///@{
/// Computes Python's self // other: the quotient, rounded towards minus infinity.
///
/// The inputs broadcast, and their dtypes promote. The gradient is zero.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - both inputs are bool
///   Error      - an integer is divided by zero
TEND_BINARY(floor_divide, "FloorDivideBackward", same, kernels::floor_divide, nothing,
            zero_slope(grad), nothing, zero_slope(grad))
TEND_WITH_NUMBER(floor_divide, "FloorDivideBackward")
TEND_OF_NUMBER(floor_divide, "FloorDivideBackward")
///@}

///@{
/// Computes Python's self % other, which has the sign of other: self - other * floor(self / other).
///
/// The inputs broadcast, and their dtypes promote. The gradient of self is 1, and the gradient of
/// other is -floor(self / other).
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - both inputs are bool
///   Error      - an integer is divided by zero
TEND_BINARY(remainder, "RemainderBackward1", same, kernels::remainder, nothing, grad, both,
            -grad * floor_divide(self, other))
TEND_WITH_NUMBER(remainder, "RemainderBackward0")
TEND_OF_NUMBER(remainder, "RemainderBackward1")
///@}

///@{
/// Computes C's fmod, which has the sign of self: self - other * trunc(self / other).
///
/// The inputs broadcast, and their dtypes promote. The gradient of self is 1, and the gradient of
/// other is -trunc(self / other).
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - both inputs are bool
///   Error      - an integer is divided by zero
TEND_BINARY(fmod, "FmodBackward1", same, kernels::fmod, nothing, grad, both,
            -grad * truncated_quotient(self, other))
TEND_WITH_NUMBER(fmod, "FmodBackward0")
TEND_OF_NUMBER(fmod, "FmodBackward1")
///@}

/// Computes 1 / self, element by element.
///
/// The result has self's shape and dtype, but integers give float32. The gradient is -1 / self^2.
TEND_UNARY(reciprocal, "ReciprocalBackward0", floating, kernels::reciprocal, result,
           -grad * (result * result))
/// Computes -self, element by element.
///
/// The result has self's shape and dtype. The gradient is -1.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(neg, "NegBackward0", same, negated, nothing, -grad)
/// Computes the absolute value |self|, element by element.
///
/// The result has self's shape and dtype. The gradient is sign(self), which is 0 at 0.
///
/// Throws: DTypeError - self is bool
TEND_UNARY(abs, "AbsBackward0", same, kernels::abs, self, grad * sign(self))
/// Returns the sign of each element: -1, 0 or 1.
///
/// The result has self's shape and dtype. It is 0 for NaN. The gradient is zero.
TEND_UNARY(sign, "SignBackward0", same, kernels::sign, nothing, zero_slope(grad))
