// Reductions. `dims` are wrapped, sorted and unique (wrap_dims). Outputs must have the shape
// reduced_shape(a.shape(), dims, keepdim), for either keepdim, and the dtype stated below, which
// assertions check. Results do not depend on the number of threads.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The dtype of sums and products: int64 for bool and int64, else the dtype itself.
constexpr DType sum_dtype(DType dtype) noexcept {
  return is_floating(dtype) ? dtype : int64;
}

/// Sum; `out` has the dtype sum_dtype(a.dtype()), or int64, to which elements are converted then.
/// Up to 15 numbers are added from left to right, more of them pairwise by blocks: the error grows
/// with log(n). The sum of no elements is 0.
void sum(const Array& out, const Array& a, const Shape& dims);
/// As sum; `a` is floating (DTypeError), and `out` has its dtype. The mean of no elements is NaN.
void mean(const Array& out, const Array& a, const Shape& dims);
/// Product; `out` has the dtype sum_dtype(a.dtype()). The product of no elements is 1.
void prod(const Array& out, const Array& a, const Shape& dims);

// For a floating `a` (DTypeError), in its dtype, which is that of `out`.

/// The sum of the elements that are not NaN. `out` may have a wider dtype.
void number_sum(const Array& out, const Array& a, const Shape& dims);
/// The sum of the absolute values.
void absolute_sum(const Array& out, const Array& a, const Shape& dims);
/// The largest (smallest) absolute value, NaN where there is one; of no elements 0 (infinity).
void largest_magnitude(const Array& out, const Array& a, const Shape& dims);
void smallest_magnitude(const Array& out, const Array& a, const Shape& dims);
/// The number of elements that are not zero.
void nonzero_count(const Array& out, const Array& a, const Shape& dims);
/// The sum of the squares.
void square_sum(const Array& out, const Array& a, const Shape& dims);
/// The same of all elements.
double square_sum(const Array& a);

/// The largest (smallest) element, NaN where there is one; `out` has a's dtype. ShapeError if a
/// reduced dimension is empty.
void amax(const Array& out, const Array& a, const Shape& dims);
void amin(const Array& out, const Array& a, const Shape& dims);

/// True when any (every) element is not zero; NaN counts as true. `out` is bool.
void any(const Array& out, const Array& a, const Shape& dims);
void all(const Array& out, const Array& a, const Shape& dims);

}  // namespace tend::kernels
