// Running sums, products and extremes along one dimension (wrapped).
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// out[..., i, ...] = a[..., 0, ...] + ... + a[..., i, ...], from left to right and in double for
/// floating dtypes; `out` has a's shape and the dtype sum_dtype(a.dtype()).
void cumsum(const Array& out, const Array& a, std::int64_t dim);

/// The same with products.
void cumprod(const Array& out, const Array& a, std::int64_t dim);

/// The largest (smallest) of a[..., 0, ...] to a[..., i, ...], and its index along `dim`: the last
/// of equal ones; NaN counts as both. `values` has a's dtype, `indices` is int64; all have one
/// shape.
void cumulative_extreme(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
                        bool largest);

/// The logarithm of cumsum(exp(a)), without overflow. Floating dtypes; `out` has that of a.
void logcumsumexp(const Array& out, const Array& a, std::int64_t dim);

}  // namespace tend::kernels
