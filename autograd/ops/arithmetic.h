/// \file
/// Elementwise arithmetic. Tensors broadcast, and the result has the dtype of torch.result_type: a
/// Scalar can change a tensor's dtype only to a higher category, as from int64 to float32.
/// Gradients are summed over the dimensions in which an input was broadcast.
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
/// Computes self + alpha * other, element by element.
///
/// The inputs broadcast, and their dtypes promote. For bool it is the logical "or". The gradient of
/// self is 1, and the gradient of other is alpha.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - alpha is floating, and the result is not
///   DTypeError - the dtype cannot hold alpha
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

///@{
/// Computes self - alpha * other, element by element.
///
/// The inputs broadcast, and their dtypes promote. The gradient of self is 1, and the gradient of
/// other is -alpha.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is bool, as in PyTorch
///   DTypeError - alpha is floating, and the result is not
///   DTypeError - the dtype cannot hold alpha
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

///@{
/// Computes other - alpha * self: sub with its operands exchanged.
///
/// The inputs broadcast, and their dtypes promote. The gradient of self is -alpha, and the gradient
/// of other is 1.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is bool, as in PyTorch
///   DTypeError - alpha is floating, and the result is not
///   DTypeError - the dtype cannot hold alpha
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}

/// How div rounds its quotient: trunc rounds towards zero, floor towards minus infinity.
enum class RoundingMode { trunc, floor };
template <>
inline constexpr std::string_view detail::kWords<RoundingMode> = "rounding_mode: trunc floor";

///@{
/// Computes self / other, and rounds it to a whole number as the rounding mode says.
///
/// The inputs broadcast, and their dtypes promote. With a rounding mode, integers stay integers and
/// the gradient is zero. With std::nullopt nothing is rounded, and dtypes and gradients are the
/// same as for div without a mode.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - both inputs are bool, and there is a rounding mode
///   Error      - an integer is divided by zero, and there is a rounding mode
Tensor div(const Tensor& self, const Tensor& other,
           std::optional<OrWord<RoundingMode>> rounding_mode);
Tensor div(const Tensor& self, const Scalar& other,
           std::optional<OrWord<RoundingMode>> rounding_mode);
///@}

///@{
/// Computes self - alpha * other, as sub.
///
/// The inputs broadcast, and their dtypes promote. The gradient of self is 1, and the gradient of
/// other is -alpha.
///
/// Throws:
///   ShapeError - the shapes do not broadcast
///   DTypeError - an input is bool, as in PyTorch
///   DTypeError - alpha is floating, and the result is not
///   DTypeError - the dtype cannot hold alpha
Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
///@}
///@{
/// Computes self * other, as mul.
///
/// The inputs broadcast, and their dtypes promote. For bool it is the logical "and". The gradient
/// of self is other, and the gradient of other is self.
///
/// Throws: ShapeError - the shapes do not broadcast
Tensor multiply(const Tensor& self, const Tensor& other);
Tensor multiply(const Tensor& self, const Scalar& other);
///@}
///@{
/// Computes self / other, as div without a rounding mode.
///
/// The inputs broadcast, and their dtypes promote; integers give float32. The gradient of self is 1
/// / other, and the gradient of other is -self / other^2.
///
/// Throws: ShapeError - the shapes do not broadcast
Tensor true_divide(const Tensor& self, const Tensor& other);
Tensor true_divide(const Tensor& self, const Scalar& other);
///@}

/// Returns the larger element of self and other.
///
/// The inputs broadcast, and their dtypes promote. The result is NaN where either input is NaN. The
/// gradient goes to the larger element. Two equal elements get half of the gradient each. Where one
/// is NaN, both get the whole gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
Tensor maximum(const Tensor& self, const Tensor& other);
/// Returns the smaller element of self and other.
///
/// The inputs broadcast, and their dtypes promote. The result is NaN where either input is NaN. The
/// gradient goes to the smaller element. Two equal elements get half of the gradient each. Where
/// one is NaN, both get the whole gradient.
///
/// Throws: ShapeError - the shapes do not broadcast
Tensor minimum(const Tensor& self, const Tensor& other);

/// Returns self itself, as unary plus does.
///
/// self may have any dtype but bool. The gradient is 1.
///
/// Throws: DTypeError - self is bool
Tensor positive(const Tensor& self);

///@{
/// The operators +, -, *, / and % do the same as add, sub, mul, div and remainder. Unary + and - do
/// the same as positive and neg.
///
/// Shapes, dtypes, errors and gradients are as for these functions.
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
