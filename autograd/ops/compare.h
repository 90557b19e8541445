/// \file
/// Comparison and logic. No operation here has a gradient. Two inputs broadcast, and are compared
/// in the dtype to which they promote.
#pragma once

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/compare_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

///@{
/// Compares a and b, element by element, as eq, ne, lt, le, gt and ge do.
///
/// The inputs broadcast. The result is bool. No gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
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

/// Returns whether each element is zero.
///
/// The result is bool, of self's shape. NaN is not zero. No gradient.
Tensor logical_not(const Tensor& self);

/// Computes ~self, bit by bit.
///
/// self is int64 or bool. The result has its shape and dtype. For bool it is logical_not. No
/// gradient.
///
/// Throws: DTypeError - self is neither int64 nor bool
Tensor bitwise_not(const Tensor& self);

///@{
/// The operators &, |, ^ and ~, as functions: bitwise_and, bitwise_or, bitwise_xor and bitwise_not.
///
/// Shapes, dtypes and errors are as for these functions. In C++, < binds more tightly than &, so a
/// < b & c < d means (a < b) & (c < d). But a & b == c means a & (b == c). No gradient.
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

/// Returns whether |self - other| <= atol + rtol |other|, or both are equal, for each element.
///
/// The inputs broadcast and have one dtype. The result is bool. NaN is close to NaN only with
/// equal_nan. Integers are compared in float32, or exactly if both tolerances are 0. No gradient.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the dtypes differ
///   Error      - a tolerance is negative
Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               Flag equal_nan = false);
/// Returns whether isclose holds for all elements.
///
/// Shapes, dtypes and tolerances are as for isclose. No gradient.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - the dtypes differ
///   Error      - a tolerance is negative
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              Flag equal_nan = false);
/// Returns whether both tensors have the same shape and the same elements.
///
/// The dtypes may differ. NaN equals nothing. No gradient.
bool equal(const Tensor& self, const Tensor& other);

}  // namespace tend
