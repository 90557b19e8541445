/// \file
/// Quantiles.
#pragma once

#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// The value of a quantile that is between two elements.
///
/// linear: a number between them, in proportion. lower: the smaller one. higher: the larger one.
/// nearest: the nearer one, or the one of even rank if both are equally near. midpoint: their mean.
enum class Interpolation { linear, lower, higher, nearest, midpoint };
template <>
inline constexpr std::string_view detail::kWords<Interpolation> =
    "interpolation: linear lower higher nearest midpoint";

///@{
/// Computes the quantile q of the elements along `dim`, or of all elements.
///
/// A share q of the elements, between 0 and 1, is below the quantile. The result is NaN if an
/// element is NaN, or if it is interpolated next to an infinite element. q may be a 0-d or 1-d
/// tensor of self's dtype. A 1-d q adds a first dimension to the result. The gradient of self goes
/// to the elements next to the quantile, in the proportions in which they contribute to it. A
/// tensor q has a gradient with linear interpolation only.
///
/// Throws:
///   DTypeError - self is not floating, or a tensor q has another dtype
///   Error      - a number in q is not in [0, 1]
///   IndexError - `dim` is out of range
///   ShapeError - self has no elements, or q has more than one dimension
///
/// https://pytorch.org/docs/2.6/generated/torch.quantile.html
Tensor quantile(const Tensor& self, double q, std::optional<Integer> dim = std::nullopt,
                Flag keepdim = false, OrWord<Interpolation> interpolation = Interpolation::linear);
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<Integer> dim = std::nullopt,
                Flag keepdim = false, OrWord<Interpolation> interpolation = Interpolation::linear);
///@}

}  // namespace tend
