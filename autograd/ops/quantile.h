/// \file
/// Quantiles.
#pragma once

#include <optional>

#include <tend/core/array/scalar.h>
#include <tend/core/base/words.h>

namespace tend {

class Tensor;

/// What quantile gives between two elements: a number between them in proportion, the smaller, the
/// larger, the nearer one (of even rank if both are equally near), or their mean.
enum class Interpolation { linear, lower, higher, nearest, midpoint };
template <>
inline constexpr std::string_view detail::kWords<Interpolation> =
    "interpolation: linear lower higher nearest midpoint";

///@{
/// The number below which the share q of the elements along `dim` (IndexError), or of all elements,
/// lies; NaN if there is a NaN, and beside an infinity. With a 1-d tensor of shares (of self's
/// dtype, DTypeError) the result has a first dimension for them. Floating only (DTypeError); Error
/// unless 0 <= q <= 1, ShapeError for the quantile of nothing and for shares of more dimensions.
/// The gradient goes to the elements next to the quantile, in the proportions that it is made of.
/// https://pytorch.org/docs/2.6/generated/torch.quantile.html
Tensor quantile(const Tensor& self, double q, std::optional<Integer> dim = std::nullopt,
                Flag keepdim = false, OrWord<Interpolation> interpolation = Interpolation::linear);
Tensor quantile(const Tensor& self, const Tensor& q, std::optional<Integer> dim = std::nullopt,
                Flag keepdim = false, OrWord<Interpolation> interpolation = Interpolation::linear);
///@}

}  // namespace tend
