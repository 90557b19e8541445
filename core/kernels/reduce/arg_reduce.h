// The places of extremes along a dimension.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Largest (smallest) element along `dim` (wrapped) and the index of its first occurrence; the
/// first NaN wins. `values` has a's dtype, `indices` is int64. A 0-d array has index 0. ShapeError
/// along an empty dimension.
void max(const Array& values, const Array& indices, const Array& a, std::int64_t dim);
void min(const Array& values, const Array& indices, const Array& a, std::int64_t dim);

/// The indices alone, int64; without `dim` those into the flattened array.
void argmax(const Array& out, const Array& a, std::optional<std::int64_t> dim);
void argmin(const Array& out, const Array& a, std::optional<std::int64_t> dim);

}  // namespace tend::kernels
