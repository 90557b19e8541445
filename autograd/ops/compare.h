/// \file
/// Comparison and logic. Nothing here has a gradient. Two inputs broadcast (ShapeError) and are
/// compared in their promoted dtype.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/compare_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

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

/// Whether self is zero (NaN is not): bool, of self's shape. No gradient.
Tensor logical_not(const Tensor& self);

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
