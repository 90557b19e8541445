// Running sums, products and extremes along one dimension, `dim`, which must be in [0, rank).
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Running sum: out[..., i, ...] = a[..., 0, ...] + ... + a[..., i, ...], from left to right.
///
/// Floating dtypes are summed in double. `out` has a's shape and the dtype sum_dtype(a.dtype()).
void cumsum(const Array& out, const Array& a, std::int64_t dim);

/// Running product, with the dtypes of cumsum.
void cumprod(const Array& out, const Array& a, std::int64_t dim);

/// The largest (smallest) of a[..., 0, ...] to a[..., i, ...], and its index along `dim`.
///
/// Among equal elements, the last one is found. NaN counts both as the largest and as the smallest.
/// `values` has a's dtype, `indices` is int64; all have one shape.
void cumulative_extreme(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
                        bool largest);

/// The logarithm of cumsum(exp(a)), without overflow. Floating dtypes; `out` has a's dtype.
void logcumsumexp(const Array& out, const Array& a, std::int64_t dim);

}  // namespace tend::kernels
