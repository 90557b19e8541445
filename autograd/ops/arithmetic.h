/// \file
/// Elementwise arithmetic. Tensors broadcast (ShapeError) and the result has the dtype of
/// torch.result_type; a Scalar does not raise the dtype within its category. Gradients are summed
/// over the dimensions in which an input was broadcast.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/base/number_abs.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/arithmetic_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

///@{
/// self + alpha * other, broadcast (ShapeError) and promoted; for bool, "or". DTypeError for a
/// floating alpha with integers, or one out of range. The gradients are 1 and alpha.
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

///@{
/// self - alpha * other, broadcast (ShapeError) and promoted. DTypeError for bool, as PyTorch has
/// it, for a floating alpha with integers, or one out of range. The gradients are 1 and -alpha.
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

///@{
/// other - alpha * self: sub with its operands exchanged, and the same errors. The gradient of self
/// is -alpha, that of other 1.
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

/// How div rounds its quotient: towards zero, or towards minus infinity.
enum class RoundingMode { trunc, floor };
template <>
inline constexpr std::string_view detail::kWords<RoundingMode> = "rounding_mode: trunc floor";

///@{
/// self / other, rounded to a whole number, broadcast (ShapeError) and promoted: integers stay
/// integers; None does not round. Not for two bools (DTypeError); Error for an integer division by
/// zero. The gradient is zero.
Tensor div(const Tensor& self, const Tensor& other,
           std::optional<OrWord<RoundingMode>> rounding_mode);
Tensor div(const Tensor& self, const Scalar& other,
           std::optional<OrWord<RoundingMode>> rounding_mode);
///@}

///@{
/// sub under its long name, with its dtypes, errors and gradients.
Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}
///@{
/// mul under its long name, with its dtypes, errors and gradients.
Tensor multiply(const Tensor& self, const Tensor& other);
Tensor multiply(const Tensor& self, const Scalar& other);
///@}
///@{
/// div without a rounding mode, with its dtypes, errors and gradients.
Tensor true_divide(const Tensor& self, const Tensor& other);
Tensor true_divide(const Tensor& self, const Scalar& other);
///@}

/// The larger of the two, NaN where either is; broadcast (ShapeError) and promoted. The gradient
/// goes to the larger, half of it to each of two equal ones, and all of it to both where one is
/// NaN.
Tensor maximum(const Tensor& self, const Tensor& other);
/// The smaller of the two, NaN where either is; broadcast (ShapeError) and promoted. The gradient
/// goes to the smaller, half of it to each of two equal ones, and all of it to both where one is
/// NaN.
Tensor minimum(const Tensor& self, const Tensor& other);

/// self itself; DTypeError for bool. The gradient is 1.
Tensor positive(const Tensor& self);

///@{
/// add, sub, mul, div, remainder, positive and neg as operators, with their rules, errors and
/// gradients.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& a, const Scalar& b);
Tensor operator+(const Scalar& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Scalar& b);
Tensor operator-(const Scalar& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Scalar& b);
Tensor operator*(const Scalar& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Scalar& b);
Tensor operator/(const Scalar& a, const Tensor& b);
Tensor operator%(const Tensor& a, const Tensor& b);
Tensor operator%(const Tensor& a, const Scalar& b);
Tensor operator%(const Scalar& a, const Tensor& b);
Tensor operator+(const Tensor& a);
Tensor operator-(const Tensor& a);
///@}

}  // namespace tend
