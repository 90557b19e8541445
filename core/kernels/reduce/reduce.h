// Reductions. `dims` are wrapped, sorted and unique (wrap_dims). Outputs must have the shape
// reduced_shape(a.shape(), dims, keepdim), for either value of keepdim, and the dtype stated below;
// assertions check both. Results do not depend on the number of threads.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The dtype of sums and products: int64 for bool and int64, else the dtype itself.
constexpr DType sum_dtype(DType dtype) noexcept {
  return is_floating(dtype) ? dtype : int64;
}

/// Sum. The sum of no elements is 0.
///
/// `out` has the dtype sum_dtype(a.dtype()). It may also be int64; the elements are then converted
/// to int64 first. Up to 15 numbers are added from left to right. More numbers are added pairwise
/// in blocks, so the error grows with log(n).
void sum(const Array& out, const Array& a, const Shape& dims);
/// Mean of a floating `a`; `out` has its dtype. The mean of no elements is NaN.
///
/// Throws: DTypeError - `a` is not floating
void mean(const Array& out, const Array& a, const Shape& dims);
/// Product. `out` has the dtype sum_dtype(a.dtype()). The product of no elements is 1.
void prod(const Array& out, const Array& a, const Shape& dims);

// The following functions need a floating `a`, and throw DTypeError otherwise. `out` has a's dtype.

/// The sum of the elements that are not NaN. `out` may also have a wider dtype.
void number_sum(const Array& out, const Array& a, const Shape& dims);
/// The sum of the absolute values.
void absolute_sum(const Array& out, const Array& a, const Shape& dims);
/// The largest (smallest) absolute value, or NaN if any element is NaN. The result for no elements
/// is 0 (infinity).
void largest_magnitude(const Array& out, const Array& a, const Shape& dims);
void smallest_magnitude(const Array& out, const Array& a, const Shape& dims);
/// The number of elements that are not zero.
void nonzero_count(const Array& out, const Array& a, const Shape& dims);
/// The sum of the squares.
void square_sum(const Array& out, const Array& a, const Shape& dims);
/// The sum of the squares of all elements.
double square_sum(const Array& a);

/// The largest (smallest) element, or NaN if any element is NaN. `out` has a's dtype.
///
/// Throws: ShapeError - a reduced dimension is empty
void amax(const Array& out, const Array& a, const Shape& dims);
void amin(const Array& out, const Array& a, const Shape& dims);

/// True if any (every) element is not zero. NaN counts as true. `out` is bool.
void any(const Array& out, const Array& a, const Shape& dims);
void all(const Array& out, const Array& a, const Shape& dims);

}  // namespace tend::kernels
