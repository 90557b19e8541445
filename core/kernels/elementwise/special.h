// Elementwise functions that C's math.h lacks, or has only in part. Outputs and dtypes are as in
// math.h. Numbers are computed in float64; errors in ulp are of float64.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// log(|gamma(a)|)
void lgamma(const Array& out, const Array& a);
/// The derivative of order n of digamma, the derivative of lgamma; n from 0 on. NaN below -1e6 for
/// n > 0, where the sum that defines it has too many terms.
void polygamma(const Array& out, const Array& a, std::int64_t n);
/// The x with erf(x) = a; infinite at -1 and 1, NaN outside.
void erfinv(const Array& out, const Array& a);

}  // namespace tend::kernels
