// Running sums and orderings along one dimension (wrapped).
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// out[..., i, ...] = a[..., 0, ...] + ... + a[..., i, ...], from left to right and in double for
/// floating dtypes; `out` has a's shape and the dtype sum_dtype(a.dtype()).
void cumsum(const Array& out, const Array& a, std::int64_t dim);

/// The same with products.
void cumprod(const Array& out, const Array& a, std::int64_t dim);

/// The index along `dim` of the largest (smallest) of a[..., 0, ...] to a[..., i, ...], the last of
/// equal ones; NaN counts as both. `out` is int64, of a's shape.
void cumulative_extreme(const Array& out, const Array& a, std::int64_t dim, bool largest);

/// The logarithm of cumsum(exp(a)), without overflow. Floating dtypes; `out` has that of a.
void logcumsumexp(const Array& out, const Array& a, std::int64_t dim);

/// `a` sorted along `dim` into `values` (a's dtype), and the indices that its elements had into
/// `indices` (int64). Equal elements keep their order; NaN counts as the largest.
void sort(const Array& values, const Array& indices, const Array& a, std::int64_t dim,
          bool descending = false);

/// The k largest (smallest) along `dim`, best first; of equal ones the earlier. NaN counts as the
/// largest. `values` and `indices` have size k along `dim`; ShapeError when k is negative or more
/// than there are.
void topk(const Array& values, const Array& indices, const Array& a, std::int64_t k,
          std::int64_t dim, bool largest = true);

/// For each of `values` how many elements of its ascending row are smaller (`right`: smaller or
/// equal). `rows` is row-major, of values' dtype (not bool: DTypeError), and either 1-d or of
/// values' shape but for the last dimension; `out` is int64, and like `values` row-major and of
/// values' shape.
void searchsorted(const Array& out, const Array& rows, const Array& values, bool right);

}  // namespace tend::kernels
