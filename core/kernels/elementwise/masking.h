// Choosing elements by a mask, by position or by bounds. The caller must allocate every output with
// the result's shape and dtype. Inputs have the stated dtype, and broadcast to the output's shape.
// The output may be one of the inputs, if their dtypes are equal.
#pragma once

#include <optional>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// out = condition ? a : b. condition is bool; out, a and b have one dtype of any kind.
void where(const Array& out, const Array& condition, const Array& a, const Array& b);

/// out = mask ? value : a. mask is bool; out and a have one dtype, to which value is converted.
void masked_fill(const Array& out, const Array& a, const Array& mask, const Scalar& value);

/// Copies the elements of the last two dimensions on and below the given diagonal, and writes zeros
/// elsewhere.
///
/// Any dtype. `a` has out's shape.
///
/// Throws: ShapeError - `a` has fewer than two dimensions
void tril(const Array& out, const Array& a, std::int64_t diagonal);
/// As tril, but copies the elements on and above the given diagonal.
void triu(const Array& out, const Array& a, std::int64_t diagonal);

/// min(max(a, lo), hi), where the bounds are converted to the dtype. If lo > hi, the result is hi.
///
/// All dtypes. NaN stays NaN, and a NaN bound makes every element NaN.
///
/// Throws: Error - there is no bound
void clamp(const Array& out, const Array& a, const std::optional<Scalar>& lo,
           const std::optional<Scalar>& hi);

/// As clamp above, with arrays as bounds. All arrays have one dtype.
void clamp(const Array& out, const Array& a, const Array& lo, const Array& hi);

/// Replaces NaN, inf and -inf by the given numbers, converted to the dtype.
///
/// Throws: DTypeError - the dtype is not float32 or float64
void nan_to_num(const Array& out, const Array& a, double nan, double posinf, double neginf);

}  // namespace tend::kernels
