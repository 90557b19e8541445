// Reading and writing the elements that a mask selects, in row-major order. Masks are row-major
// bool arrays.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/kernels/indexing/index_arrays.h>

namespace tend::kernels {

/// The number of true elements.
std::int64_t count_nonzero(const Array& mask);
/// The indices of the true elements: out[k][d] is the index of the k-th true element in dimension
/// d.
///
/// out is a row-major int64 array of shape (count_nonzero(mask), mask.rank()).
void nonzero(const Array& out, const Array& mask);
/// The indices of the true elements as index arrays, one for each dimension.
IndexArrays positions_of(const Array& mask);

/// Writes the elements of `a` where `mask` is true to `out`.
///
/// The mask has a's shape. `out` has a's dtype, and one element for each true element of the mask.
void take_masked(const Array& out, const Array& a, const Array& mask);

/// Replaces the elements of `out` where `mask` is true by the elements of `src`, one after the
/// other. With `accumulate`, adds the elements of `src` instead.
///
/// out and src are row-major and have one dtype. `src` has one element for each true element of the
/// mask, or a single element for all of them. Other elements of `out` are not touched.
void put_masked(const Array& out, const Array& mask, const Array& src, bool accumulate);

}  // namespace tend::kernels
