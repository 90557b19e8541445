// Comparison and logic. Outputs have the result's shape, to which inputs broadcast. They are bool
// unless stated otherwise.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// The following functions compute out = a op b, where a and b have one dtype of any kind. All
// comparisons with NaN are false, except ne.

void eq(const Array& out, const Array& a, const Array& b);
void ne(const Array& out, const Array& a, const Array& b);
void lt(const Array& out, const Array& a, const Array& b);
void le(const Array& out, const Array& a, const Array& b);
void gt(const Array& out, const Array& a, const Array& b);
void ge(const Array& out, const Array& a, const Array& b);

// In the following functions, an element is true if it is not zero; NaN is true. a and b have one
// dtype of any kind.

void logical_and(const Array& out, const Array& a, const Array& b);
void logical_or(const Array& out, const Array& a, const Array& b);
void logical_xor(const Array& out, const Array& a, const Array& b);
void logical_not(const Array& out, const Array& a);

// The following functions work bit by bit. out, a and b have one dtype, bool or int64; any other
// dtype is a DTypeError.

void bitwise_and(const Array& out, const Array& a, const Array& b);
void bitwise_or(const Array& out, const Array& a, const Array& b);
void bitwise_xor(const Array& out, const Array& a, const Array& b);
void bitwise_not(const Array& out, const Array& a);

// The following functions accept any dtype. Integers and bools are finite.

void isnan(const Array& out, const Array& a);
void isinf(const Array& out, const Array& a);
void isfinite(const Array& out, const Array& a);

}  // namespace tend::kernels
