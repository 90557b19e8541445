/// \file
/// Elementwise functions of one and of two variables. Those of one variable give self's shape;
/// unless stated, int64 and bool tensors give float32 and every input is allowed. Infinities and
/// NaN are as in IEEE 754 and C's math.h.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array/array.h>

namespace tend {

class Tensor;

#define TEND_TABLE <tend/autograd/ops/math_table.h>
#define TEND_ROWS_DECLARE
#include <tend/autograd/ops/row_forms.h>

/// The nearest multiple of 10^-decimals, computed with powers of ten, so that halves may go either
/// way; floating only (DTypeError) unless decimals is 0. The gradient is zero.
/// https://pytorch.org/docs/2.6/generated/torch.round.html
Tensor round(const Tensor& self, std::int64_t decimals);

/// log(exp(self) + exp(other)), without overflow; broadcast (ShapeError) and promoted. One of them
/// is floating (DTypeError). The gradient of self is sigmoid(self - other), that of other
/// sigmoid(other - self); NaN where both are the same infinity.
Tensor logaddexp(const Tensor& self, const Tensor& other);

/// The derivative of order n of digamma; Error for n < 0. Integers give float32. NaN below -1e6 for
/// n > 0. The gradient is polygamma(n + 1, self).
/// https://pytorch.org/docs/2.6/generated/torch.special.polygamma.html
Tensor polygamma(std::int64_t n, const Tensor& self);
/// log(self / (1 - self)), the inverse of sigmoid: NaN outside [0, 1]. With `eps`, self is first
/// clamped to [eps, 1 - eps]. Integers give float32. The gradient is 1 / (self (1 - self)); where
/// self was clamped it is 0, where the result is NaN it is NaN.
Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt);

}  // namespace tend
