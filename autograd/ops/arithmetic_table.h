// The table of arithmetic.h: row_forms.h says what a row means.
// clang-format off
// (It takes products for pointers.)

///@{
/// self * other, broadcast (ShapeError) and promoted; for bool, "and". The gradient of self is
/// other, and the other way round.
TEND_BINARY(mul, "MulBackward0", same, kernels::mul, other, grad * other, self, grad * self)
TEND_WITH_NUMBER(mul, "MulBackward0")
///@}

///@{
/// self / other, broadcast (ShapeError) and promoted: true division, integers give float32. The
/// gradient of self is 1 / other, that of other -self / other^2.
TEND_BINARY(div, "DivBackward0", floating, kernels::div, other, grad / other, both,
            -grad * ((self / other) / other))
TEND_WITH_NUMBER(div, "DivBackward0")
///@}

///@{
/// Python's self // other, rounded towards minus infinity, broadcast (ShapeError) and promoted. Not
/// for two bools (DTypeError); Error for an integer division by zero. The gradient is zero.
TEND_BINARY(floor_divide, "FloorDivideBackward", same, kernels::floor_divide, nothing,
            zero_slope(grad), nothing, zero_slope(grad))
TEND_WITH_NUMBER(floor_divide, "FloorDivideBackward")
TEND_OF_NUMBER(floor_divide, "FloorDivideBackward")
///@}

///@{
/// Python's self % other, which has other's sign: self - other * floor(self / other), broadcast
/// (ShapeError) and promoted. Not for two bools (DTypeError); Error for an integer division by
/// zero. The gradient of self is 1, that of other -floor(self / other).
TEND_BINARY(remainder, "RemainderBackward1", same, kernels::remainder, nothing, grad, both,
            -grad * floor_divide(self, other))
TEND_WITH_NUMBER(remainder, "RemainderBackward0")
TEND_OF_NUMBER(remainder, "RemainderBackward1")
///@}

///@{
/// C's fmod, which has self's sign: self - other * trunc(self / other), broadcast (ShapeError) and
/// promoted. Not for two bools (DTypeError); Error for an integer division by zero. The gradient of
/// self is 1, that of other -trunc(self / other).
TEND_BINARY(fmod, "FmodBackward1", same, kernels::fmod, nothing, grad, both,
            -grad * truncated_quotient(self, other))
TEND_WITH_NUMBER(fmod, "FmodBackward0")
TEND_OF_NUMBER(fmod, "FmodBackward1")
///@}

/// 1 / self; integers give float32. The gradient is -1 / self^2.
TEND_UNARY(reciprocal, "ReciprocalBackward0", floating, kernels::reciprocal, result,
           -grad * (result * result))
/// -self; DTypeError for bool. The gradient is -1.
TEND_UNARY(neg, "NegBackward0", same, negated, nothing, -grad)
/// |self|; DTypeError for bool. The gradient is sign(self), 0 at 0.
TEND_UNARY(abs, "AbsBackward0", same, kernels::abs, self, grad * sign(self))
/// -1, 0 or 1, of self's dtype; 0 for NaN. The gradient is zero.
TEND_UNARY(sign, "SignBackward0", same, kernels::sign, nothing, zero_slope(grad))
