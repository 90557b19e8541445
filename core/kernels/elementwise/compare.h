// Comparison and logic. Outputs have the result's shape, to which inputs broadcast, and are bool
// unless stated.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// out = a op b; a and b have one dtype, any. Comparisons with NaN are false, but for ne.

void eq(const Array& out, const Array& a, const Array& b);
void ne(const Array& out, const Array& a, const Array& b);
void lt(const Array& out, const Array& a, const Array& b);
void le(const Array& out, const Array& a, const Array& b);
void gt(const Array& out, const Array& a, const Array& b);
void ge(const Array& out, const Array& a, const Array& b);

// a and b have one dtype, any; an element is true when it is not zero (NaN is true).

void logical_and(const Array& out, const Array& a, const Array& b);
void logical_or(const Array& out, const Array& a, const Array& b);
void logical_xor(const Array& out, const Array& a, const Array& b);
void logical_not(const Array& out, const Array& a);

// Bit by bit; out, a and b have one dtype, bool or int64 (DTypeError).

void bitwise_and(const Array& out, const Array& a, const Array& b);
void bitwise_or(const Array& out, const Array& a, const Array& b);
void bitwise_xor(const Array& out, const Array& a, const Array& b);
void bitwise_not(const Array& out, const Array& a);

// Any dtype; integers and bools are finite.

void isnan(const Array& out, const Array& a);
void isinf(const Array& out, const Array& a);
void isfinite(const Array& out, const Array& a);

}  // namespace tend::kernels
