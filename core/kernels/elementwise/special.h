// Elementwise functions that C's math.h lacks, or has only in part. Outputs, dtypes and the errors
// stated are as in math.h; those of float32 are 0.51 ulp, since it is computed in float64.
#pragma once

#include <cstdint>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// log(|gamma(a)|); 3 ulp, for negative numbers of 1 where the result is smaller
void lgamma(const Array& out, const Array& a);
/// The derivative of order n of digamma, the derivative of lgamma; n from 0 on. NaN below -1e6 for
/// n > 0, where the sum that defines it has too many terms.
void polygamma(const Array& out, const Array& a, std::int64_t n);
/// The x with erf(x) = a; infinite at -1 and 1, NaN outside; 3 ulp
void erfinv(const Array& out, const Array& a);
/// log(x / (1 - x)) with the x between the bounds that is next to a.
void logit(const Array& out, const Array& a, double min, double max);
/// grad times the derivative of logit at a, or `outside` where a is not within the bounds; out,
/// grad and a have one dtype.
void logit_backward(const Array& out, const Array& grad, const Array& a, double min, double max,
                    double outside);

}  // namespace tend::kernels
