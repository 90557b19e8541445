// Reductions that need the elements twice, such as distances from their mean, but read memory once:
// a block is reduced while it lies in the cache. See reduce.h for the arguments.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The sum of squared distances to the mean, divided by max(0, n - correction); floating dtypes
/// only (DTypeError), of which `out` may have a wider one. It is computed in float64 and as exact
/// as its squares and their sum, however far the mean is from zero: blocks' variances are joined by
/// the formula of Chan, Golub and LeVeque (1979). Division by zero gives NaN or inf, as in PyTorch.
void var(const Array& out, const Array& a, const Shape& dims, double correction = 1);

/// The means, and the variances without correction. Both outputs have a's floating dtype
/// (DTypeError) and the same strides; results are rounded once.
void moments(const Array& means, const Array& variances, const Array& a, const Shape& dims);

/// log(sum(exp(a))), -inf for no elements; floating dtypes only (DTypeError), which `out` has, too.
/// As that of exp, its last bit may depend on the SIMD target.
void log_sum_exp(const Array& out, const Array& a, const Shape& dims);

}  // namespace tend::kernels
