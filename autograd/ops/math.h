/// \file
/// Elementwise functions of one or two tensors. Infinities and NaN are treated as in IEEE 754 and
/// C's math.h.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/math_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

/// Rounds to the nearest multiple of 10^-decimals.
///
/// The computation uses powers of ten, so halves may be rounded either way. The result has self's
/// shape and dtype. With decimals = 0 it is round(self). The gradient is zero.
///
/// Throws: DTypeError - self is not floating and decimals is not 0, or self is bool
///
/// https://pytorch.org/docs/2.6/generated/torch.round.html
Tensor round(const Tensor& self, std::int64_t decimals);

/// Computes log(exp(self) + exp(other)) without overflow.
///
/// The tensors broadcast and promote. At least one of them is floating. The gradient of self is
/// sigmoid(self - other), and the gradient of other is sigmoid(other - self). Both are NaN where
/// self and other are the same infinity.
///
/// Throws:
///   DTypeError - neither tensor is floating
///   ShapeError - the shapes do not broadcast
Tensor logaddexp(const Tensor& self, const Tensor& other);

/// Computes the derivative of order n of digamma.
///
/// The result has self's shape; int64 and bool give float32. For n > 0 it is NaN below -1e6. The
/// gradient is polygamma(n + 1, self).
///
/// Throws: Error - n is negative
///
/// https://pytorch.org/docs/2.6/generated/torch.special.polygamma.html
Tensor polygamma(std::int64_t n, const Tensor& self);
/// Computes log(self / (1 - self)), the inverse of sigmoid.
///
/// The result has self's shape; int64 and bool give float32. It is NaN outside [0, 1]. With `eps`,
/// self is first clamped to [eps, 1 - eps]. The gradient is 1 / (self (1 - self)). It is 0 where
/// self was clamped, and NaN where the result is NaN.
Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt);

}  // namespace tend
