/// \file
/// Comparison and logic. Nothing here has a gradient. Two inputs broadcast (ShapeError) and are
/// compared in their promoted dtype.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

///@{
/// Whether self == other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
Tensor eq(const Tensor& self, const Tensor& other);
Tensor eq(const Tensor& self, const Scalar& other);
///@}
///@{
/// Whether self != other, bool; true for NaN. Broadcasts (ShapeError). No gradient.
Tensor ne(const Tensor& self, const Tensor& other);
Tensor ne(const Tensor& self, const Scalar& other);
///@}
///@{
/// Whether self < other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
Tensor lt(const Tensor& self, const Tensor& other);
Tensor lt(const Tensor& self, const Scalar& other);
///@}
///@{
/// Whether self <= other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
Tensor le(const Tensor& self, const Tensor& other);
Tensor le(const Tensor& self, const Scalar& other);
///@}
///@{
/// Whether self > other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
Tensor gt(const Tensor& self, const Tensor& other);
Tensor gt(const Tensor& self, const Scalar& other);
///@}
///@{
/// Whether self >= other, bool; false for NaN. Broadcasts (ShapeError). No gradient.
Tensor ge(const Tensor& self, const Tensor& other);
Tensor ge(const Tensor& self, const Scalar& other);
///@}

///@{
/// eq, ne, lt, le, gt and ge as operators, element by element: bool, broadcast (ShapeError). No
/// gradient.
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, const Scalar& b);
Tensor operator==(const Scalar& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Scalar& b);
Tensor operator!=(const Scalar& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Scalar& b);
Tensor operator<(const Scalar& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Scalar& b);
Tensor operator<=(const Scalar& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Scalar& b);
Tensor operator>(const Scalar& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Scalar& b);
Tensor operator>=(const Scalar& a, const Tensor& b);
///@}

/// Whether both are true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
Tensor logical_and(const Tensor& self, const Tensor& other);
/// Whether one or both are true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
Tensor logical_or(const Tensor& self, const Tensor& other);
/// Whether exactly one is true, that is not zero (NaN is true): bool, for any dtypes, broadcast
/// (ShapeError). No gradient.
Tensor logical_xor(const Tensor& self, const Tensor& other);
/// Whether self is zero (NaN is not): bool, of self's shape. No gradient.
Tensor logical_not(const Tensor& self);

///@{
/// self & other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, const Scalar& other);
///@}
///@{
/// self | other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, const Scalar& other);
///@}
///@{
/// self ^ other, bit by bit, broadcast (ShapeError) and promoted; logic on bool. DTypeError unless
/// bool or int64. No gradient.
Tensor bitwise_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, const Scalar& other);
///@}
/// ~self, bit by bit, of self's dtype; logical_not on bool. DTypeError unless bool or int64. No
/// gradient.
Tensor bitwise_not(const Tensor& self);

///@{
/// bitwise_and, bitwise_or, bitwise_xor and bitwise_not as operators, with their rules and errors.
/// Mind C++'s precedence: (a < b) & (c < d) works without parentheses as well, but a & b == c means
/// a & (b == c). No gradient.
Tensor operator&(const Tensor& a, const Tensor& b);
Tensor operator&(const Tensor& a, const Scalar& b);
Tensor operator&(const Scalar& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Scalar& b);
Tensor operator|(const Scalar& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Scalar& b);
Tensor operator^(const Scalar& a, const Tensor& b);
Tensor operator~(const Tensor& a);
///@}

/// Whether self is NaN: bool, of self's shape; false for integers and bools. No gradient.
Tensor isnan(const Tensor& self);
/// Whether self is inf or -inf: bool, of self's shape; false for integers and bools. No gradient.
Tensor isinf(const Tensor& self);
/// Whether self is neither NaN nor infinite: bool, of self's shape; true for integers and bools. No
/// gradient.
Tensor isfinite(const Tensor& self);

/// Whether |self - other| <= atol + rtol |other|, or both are equal: bool, broadcast (ShapeError).
/// NaN is close to NaN with equal_nan only. Both have one dtype (DTypeError); Error for a negative
/// tolerance. Integers are compared in float32, or exactly if both tolerances are 0. No gradient.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               Flag equal_nan = false);
/// Whether isclose holds for all elements, with its errors. No gradient.
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              Flag equal_nan = false);
/// Whether shapes and all elements are the same; the dtypes may differ, and NaN equals nothing. No
/// gradient.
bool equal(const Tensor& self, const Tensor& other);

}  // namespace tend
