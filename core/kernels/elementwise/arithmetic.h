// Elementwise arithmetic. The caller must allocate every output with the result's shape and dtype.
// Inputs have the stated dtype, and broadcast to the output's shape. The output may be one of the
// inputs.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// The following functions compute out = a op b, where out, a and b have one dtype. "Numbers" are
// all dtypes except bool. Integers wrap around. All of them throw DTypeError for a dtype that is
// not listed. Errors come before anything is written.

/// a + b. All dtypes; for bool this is "or".
void add(const Array& out, const Array& a, const Array& b);
/// a + alpha * b, rounded after the product and after the sum.
///
/// All dtypes. For int64, alpha is converted to an integer. For bool, alpha counts as true unless
/// it is zero, and the sum is "or".
void add_scaled(const Array& out, const Array& a, const Array& b, const Scalar& alpha);
/// a - b. Numbers; bool is refused because users usually mean xor.
void sub(const Array& out, const Array& a, const Array& b);
/// a * b. All dtypes; for bool this is "and".
void mul(const Array& out, const Array& a, const Array& b);
/// a / b as in IEEE 754. float32 and float64.
void div(const Array& out, const Array& a, const Array& b);
/// a to the power b. Numbers.
///
/// An integer to a negative power is rounded towards zero: 1 gives 1, -1 gives 1 or -1, and every
/// other base gives 0. The error is at most 0.8 ulp in float64, and 0.51 ulp in float32.
void pow(const Array& out, const Array& a, const Array& b);
/// The larger of a and b, or NaN if either is NaN. All dtypes.
void maximum(const Array& out, const Array& a, const Array& b);
/// The smaller of a and b, or NaN if either is NaN. All dtypes.
void minimum(const Array& out, const Array& a, const Array& b);
/// Python's a % b, which has the sign of b. Numbers.
///
/// A floating b of zero gives NaN.
///
/// Throws: Error - an element of an integer b is zero
void remainder(const Array& out, const Array& a, const Array& b);
/// C's fmod, which has the sign of a. Numbers.
///
/// A floating b of zero gives NaN.
///
/// Throws: Error - an element of an integer b is zero
void fmod(const Array& out, const Array& a, const Array& b);
/// Python's a // b, rounded towards minus infinity. Numbers.
///
/// A floating b of zero gives a / b.
///
/// Throws: Error - an element of an integer b is zero
void floor_divide(const Array& out, const Array& a, const Array& b);

/// a / b rounded towards zero. Numbers.
///
/// A floating b of zero gives a / b.
///
/// Throws: Error - an element of an integer b is zero
void trunc_divide(const Array& out, const Array& a, const Array& b);

/// a + weight * (b - a). float32 and float64; all arrays have one dtype.
///
/// Where |weight| >= 1/2, the result is computed as b - (b - a) * (1 - weight). So the results for
/// the weights 0 and 1 are exact.
void lerp(const Array& out, const Array& a, const Array& b, const Array& weight);

// The following functions compute out = op a, where out and a have one dtype. They accept numbers,
// and throw DTypeError for bool; sign accepts bool, too.

void neg(const Array& out, const Array& a);
void abs(const Array& out, const Array& a);
/// -1, 0 or 1. NaN gives 0, as in PyTorch.
void sign(const Array& out, const Array& a);

}  // namespace tend::kernels
