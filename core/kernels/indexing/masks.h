// Reading and writing the elements that a mask names, in their row-major order. Masks are row-major
// bool arrays.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/kernels/indexing/index_arrays.h>

namespace tend::kernels {

/// The number of true elements.
std::int64_t count_nonzero(const Array& mask);
/// The indices of the true elements: out[k][d] is that of the k-th in dimension d; out is a
/// row-major int64 array of shape (count_nonzero(mask), mask.rank()).
void nonzero(const Array& out, const Array& mask);
/// The same as index arrays, one for each dimension.
IndexArrays positions_of(const Array& mask);

/// out = the elements of `a` where `mask` is true; the mask has a's shape, and `out`, of a's dtype,
/// as many elements as are true.
void take_masked(const Array& out, const Array& a, const Array& mask);

/// Replaces the elements of `out` where `mask` is true by those of `src`, one after the other, or
/// adds those to them (`accumulate`). Both are row-major and of one dtype; `src` has as many
/// elements as are true, or a single one for all of them. Other elements are not touched.
void put_masked(const Array& out, const Array& mask, const Array& src, bool accumulate);

}  // namespace tend::kernels
