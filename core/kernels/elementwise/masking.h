// Choosing elements by a mask, by position or by bounds. Every output is allocated with the
// result's shape and dtype; inputs have the stated dtype and broadcast to it. The output may be the
// same view as an input of its dtype.
#pragma once

#include <optional>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// out = condition ? a : b; condition is bool, the others have one dtype, any.
void where(const Array& out, const Array& condition, const Array& a, const Array& b);

/// out = mask ? value : a; mask is bool, out and a have one dtype, to which value is converted.
void masked_fill(const Array& out, const Array& a, const Array& mask, const Scalar& value);

/// Keeps the elements of the last two dimensions on and below the given diagonal, zeroes the
/// others. Any dtype; `a` has out's shape; ShapeError for less than two dimensions.
void tril(const Array& out, const Array& a, std::int64_t diagonal);
/// Keeps the elements on and above the given diagonal.
void triu(const Array& out, const Array& a, std::int64_t diagonal);

/// min(max(a, lo), hi), bounds converted to the dtype, so hi wins where lo > hi. NaN stays NaN, and
/// a NaN bound makes everything NaN. All dtypes; Error when there is no bound.
void clamp(const Array& out, const Array& a, const std::optional<Scalar>& lo,
           const std::optional<Scalar>& hi);

/// The same between arrays, in the dtype that all have.
void clamp(const Array& out, const Array& a, const Array& lo, const Array& hi);

/// Replaces NaN, inf and -inf by the given numbers, converted to the dtype. float32 and float64;
/// DTypeError otherwise.
void nan_to_num(const Array& out, const Array& a, double nan, double posinf, double neginf);

}  // namespace tend::kernels
