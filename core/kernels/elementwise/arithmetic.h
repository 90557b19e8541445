// Elementwise arithmetic. Every output is allocated with the result's shape and dtype; inputs have
// the stated dtype and broadcast to it. The output may be the same view as an input.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// out = a op b; out, a and b have one dtype. "Numbers" are all dtypes but bool. Integers wrap
// around. Errors, thrown before anything is written: DTypeError for a dtype that is not listed, and
// what is said below.

/// All dtypes; on bool, or.
void add(const Array& out, const Array& a, const Array& b);
/// a + alpha * b, rounded after the product and after the sum. All dtypes: on int64 the product is
/// by alpha's integer part, on bool alpha asks for "not zero" and the sum is or.
void add_scaled(const Array& out, const Array& a, const Array& b, const Scalar& alpha);
/// Numbers; not bool, for which xor is usually meant.
void sub(const Array& out, const Array& a, const Array& b);
/// All dtypes; on bool, and.
void mul(const Array& out, const Array& a, const Array& b);
/// float32 and float64, as IEEE 754 has it.
void div(const Array& out, const Array& a, const Array& b);
/// Numbers. An integer to a negative power is its truncated value: 1 and -1 have one, every other
/// gives 0. float64 within 0.8 ulp, float32 within 0.51.
void pow(const Array& out, const Array& a, const Array& b);
/// All dtypes; NaN where either is NaN.
void maximum(const Array& out, const Array& a, const Array& b);
/// All dtypes; NaN where either is NaN.
void minimum(const Array& out, const Array& a, const Array& b);
/// Numbers; Python's a % b, which has the sign of b. Error where an integer b is zero; a floating b
/// of zero gives NaN.
void remainder(const Array& out, const Array& a, const Array& b);
/// Numbers; C's fmod, which has the sign of a. Zeros of b as above.
void fmod(const Array& out, const Array& a, const Array& b);
/// Numbers; Python's a // b, rounded towards minus infinity. Error where an integer b is zero; a
/// floating b of zero gives a / b.
void floor_divide(const Array& out, const Array& a, const Array& b);

/// Numbers; a / b rounded towards zero. Zeros of b as above.
void trunc_divide(const Array& out, const Array& a, const Array& b);

/// a + weight * (b - a), where |weight| >= 1/2 as b - (b - a) * (1 - weight): exact at weight 0
/// and 1. float32 and float64, all of one dtype.
void lerp(const Array& out, const Array& a, const Array& b, const Array& weight);

// out = op a; out and a have one dtype. Numbers; DTypeError for bool (sign takes it).

void neg(const Array& out, const Array& a);
void abs(const Array& out, const Array& a);
/// -1, 0 or 1; 0 for NaN, as PyTorch has it.
void sign(const Array& out, const Array& a);

}  // namespace tend::kernels
