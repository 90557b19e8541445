// Elementwise functions that C's math.h lacks, or has only in part. Outputs and dtypes are as in
// math.h. Errors are those of float64; functions that state one compute float32 in float64, within
// 0.51 ulp.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// log(|gamma(a)|); 3 ulp, for negative a 5 of the largest of the result, lgamma(1 - a) and 1
void lgamma(const Array& out, const Array& a);
/// The derivative of order n of digamma, the derivative of lgamma; n from 0 on. NaN below -1e6 for
/// n > 0, where the sum that defines it has too many terms. For positive a digamma is within 7 ulp,
/// of 1 where the result is smaller, the others within 9 ulp.
void polygamma(const Array& out, const Array& a, std::int64_t n);
/// The x with erf(x) = a; infinite at -1 and 1, NaN outside; 3 ulp
void erfinv(const Array& out, const Array& a);
/// a 10^decimals, rounded to the nearest integer, halves to the even one, over 10^decimals;
/// negative `decimals` round to tens, hundreds, ...
void round_decimals(const Array& out, const Array& a, std::int64_t decimals);

}  // namespace tend::kernels
