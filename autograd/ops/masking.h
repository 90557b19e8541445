/// \file
/// Choosing elements by a mask, by position or by bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tend/autograd/tensor/index.h>
#include <tend/core/array/array.h>

namespace tend {

class Tensor;

///@{
/// condition ? self : other, all three broadcast (ShapeError). The condition is bool (DTypeError);
/// the others promote, and two numbers give float32 when one of them is floating; DTypeError for a
/// number that the dtype cannot hold. The gradient goes to self where true, to other elsewhere.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
///@}
/// Where the condition holds: nonzero_numpy, as in PyTorch. No gradient.
std::vector<Tensor> where(const Tensor& condition);

///@{
/// mask ? value : self, both broadcast (ShapeError). The mask is bool (DTypeError); the value is
/// converted to self's dtype, DTypeError when that cannot hold it. A tensor as the value is 0-d
/// (ShapeError). The gradient goes to self where the mask is false; that of the value is the sum
/// over the masked elements.
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
///@}

/// The last two dimensions with zeros above the given diagonal (0 is the main one, 1 the one above
/// it). Any dtype; ShapeError for fewer dimensions. The gradient is tril of the result's.
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
/// The last two dimensions with zeros below the given diagonal (0 is the main one, 1 the one above
/// it). Any dtype; ShapeError for fewer dimensions. The gradient is triu of the result's.
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

/// min(max(self, lo), hi), either of which may be left out (Error if both are). Floating bounds
/// make integers float32 (DTypeError for a bound that the dtype cannot hold); NaN stays NaN. As in
/// PyTorch, a bound that is NaN changes nothing where it is the only one, and makes everything NaN
/// where there are two. The gradient is 1 where lo <= self <= hi, 0 elsewhere.
Tensor clamp(const Tensor& self, const std::optional<Scalar>& lo,
             const std::optional<Scalar>& hi = None);
/// min(max(self, lo), hi) for tensors, of which one bound may be undefined (Error if both are); all
/// broadcast (ShapeError) and promote, and NaN stays NaN. The gradient goes to self where
/// lo <= self <= hi, and elsewhere to the bound that replaced it, if lo < hi or self > hi.
Tensor clamp(const Tensor& self, const Tensor& lo, const Tensor& hi);
///@{
/// clamp under NumPy's name, with its dtypes, errors and gradients.
Tensor clip(const Tensor& self, const std::optional<Scalar>& lo,
            const std::optional<Scalar>& hi = None);
Tensor clip(const Tensor& self, const Tensor& lo, const Tensor& hi);
///@}
///@{
/// max(self, lo): clamp with a lower bound only, and the same dtypes and errors, but NaN where lo
/// is. The gradient goes to self where self >= lo, to a tensor lo elsewhere.
Tensor clamp_min(const Tensor& self, const Scalar& lo);
Tensor clamp_min(const Tensor& self, const Tensor& lo);
///@}
///@{
/// min(self, hi): clamp with an upper bound only, and the same dtypes and errors, but NaN where hi
/// is. The gradient goes to self where self <= hi, to a tensor hi elsewhere.
Tensor clamp_max(const Tensor& self, const Scalar& hi);
Tensor clamp_max(const Tensor& self, const Tensor& hi);
///@}

/// self with NaN, inf and -inf replaced by numbers; those for inf and -inf default to the largest
/// and the lowest finite number of the dtype, that for NaN to 0. Integers and bools stay as they
/// are. The gradient is 0 where something was replaced, 1 elsewhere.
Tensor nan_to_num(const Tensor& self, std::optional<double> nan = 0,
                  std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);

}  // namespace tend
