/// \file
/// Distances between rows.
#pragma once

namespace tend {

class Tensor;

/// The distances norm(x1[..., i, :] - x2[..., j, :], p) for rows of one length, (..., n, m): n rows
/// of x1, m rows of x2, and leading dimensions that broadcast (ShapeError). One floating dtype
/// (DTypeError); Error for p < 0. For p = 2 and more than 25 rows they come from a matrix product,
/// in which distances that are small beside the rows lose digits; orders other than 0, 1, 2 and
/// infinity need memory for all differences. The gradient is that of norm, but equal largest
/// differences each get all of it. https://pytorch.org/docs/2.6/generated/torch.cdist.html
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

}  // namespace tend
