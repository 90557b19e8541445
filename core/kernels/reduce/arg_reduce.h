// The positions of the largest and smallest elements along a dimension.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The largest element along `dim`, which must be in [0, rank), and the index of its first
/// occurrence; for min, the smallest element.
///
/// If there is a NaN, the first NaN is the result. `values` has a's dtype, `indices` is int64. The
/// index in a 0-d array is 0.
///
/// Throws: ShapeError - the dimension is empty
void max(const Array& values, const Array& indices, const Array& a, std::int64_t dim);
void min(const Array& values, const Array& indices, const Array& a, std::int64_t dim);

/// As max and min, but writes only the index (int64). Without `dim`, it is an index into the
/// flattened array.
void argmax(const Array& out, const Array& a, std::optional<std::int64_t> dim);
void argmin(const Array& out, const Array& a, std::optional<std::int64_t> dim);

}  // namespace tend::kernels
