// Reductions that use each element twice, such as distances from the mean, but read memory once: a
// block is reduced while it is in the cache. The arguments are described in reduce.h.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The variance: the sum of squared distances from the mean, divided by max(0, n - correction).
///
/// `a` is floating, and `out` may have a wider dtype. The variance is computed in float64. All
/// errors come from the squares and their sum, however far the mean is from zero: the variances of
/// blocks are combined by the formula of Chan, Golub and LeVeque (1979). Division by zero gives
/// NaN or inf, as in PyTorch.
///
/// Throws: DTypeError - a dtype is not floating
void var(const Array& out, const Array& a, const Shape& dims, double correction = 1);

/// The means, and the variances without correction.
///
/// Both outputs have a's floating dtype and the same strides. Results are rounded once.
///
/// Throws: DTypeError - `a` is not floating
void moments(const Array& means, const Array& variances, const Array& a, const Shape& dims);

/// log(sum(exp(a))), or -inf for no elements. `out` has a's floating dtype.
///
/// As with exp, the last bit of the result may depend on the SIMD target.
///
/// Throws: DTypeError - `a` is not floating
void log_sum_exp(const Array& out, const Array& a, const Shape& dims);

}  // namespace tend::kernels
