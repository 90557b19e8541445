// Choosing elements by a mask, by position or by bounds.
#pragma once

#include <cstdint>
#include <optional>

#include <tend/core/array.h>

namespace tend {

class Tensor;

/// condition ? self : other, all three broadcast (ShapeError). The condition is bool (DTypeError);
/// the others promote.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
/// Two numbers: float32 when one of them is floating.
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);

/// mask ? value : self, both broadcast (ShapeError). The mask is bool; the value is converted to
/// self's dtype, and DTypeError when int64 cannot hold it.
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
/// The value is a 0-d tensor (ShapeError).
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);

/// The last two dimensions with zeros above the given diagonal (0 is the main one, 1 the one above
/// it). ShapeError for fewer dimensions.
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
/// The last two dimensions with zeros below the given diagonal.
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

/// min(max(self, lo), hi), either of which may be left out (Error for both). Floating bounds make
/// integers float32; NaN stays NaN. The gradient goes where lo <= self <= hi.
Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo,
             const std::optional<Scalar>& hi = std::nullopt);
/// The bounds are tensors, one of which may be undefined; all broadcast (ShapeError) and promote.
/// What exceeds a bound sends its gradient there.
Tensor clamp(const Tensor& self, const Tensor& lo, const Tensor& hi);
/// clamp with a lower bound only.
Tensor clamp_min(const Tensor& self, const Scalar& lo);
Tensor clamp_min(const Tensor& self, const Tensor& lo);
/// clamp with an upper bound only.
Tensor clamp_max(const Tensor& self, const Scalar& hi);
Tensor clamp_max(const Tensor& self, const Tensor& hi);

/// A number in the place of NaN, inf and -inf; the last two default to the largest and the lowest
/// finite number of the dtype. Integers and bools stay as they are. The gradient is 0 where
/// something was replaced.
Tensor nan_to_num(const Tensor& self, double nan = 0, std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);

}  // namespace tend
