// Elementwise functions that C's math.h lacks, or has only in part. Outputs and dtypes are as in
// math.h of this folder. The stated errors hold for float64. Functions with a stated error compute
// float32 in float64, so the error of float32 results is at most 0.51 ulp.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// log(|gamma(a)|). The error is at most 3 ulp for positive a. For negative a it is at most 5 ulp
/// of the largest of three numbers: the result, lgamma(1 - a) and 1.
void lgamma(const Array& out, const Array& a);
/// The derivative of order n >= 0 of digamma, which is the derivative of lgamma.
///
/// For n > 0 and a below -1e6, the result is NaN: the sum that defines the function has too many
/// terms. For positive a and n = 0 (digamma), the error is at most 7 ulp of the result, or of 1
/// where the result is smaller. For positive a and n > 0, the error is at most 9 ulp.
void polygamma(const Array& out, const Array& a, std::int64_t n);
/// The x with erf(x) = a; infinite at -1 and 1, NaN outside. The error is at most 3 ulp.
void erfinv(const Array& out, const Array& a);
/// Rounds a to `decimals` decimal places: a * 10^decimals, rounded to the nearest integer, divided
/// by 10^decimals.
///
/// Halves are rounded to the even integer. Negative `decimals` round to tens, hundreds, ...
void round_decimals(const Array& out, const Array& a, std::int64_t decimals);

}  // namespace tend::kernels
