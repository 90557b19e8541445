/// \file
/// Distances between rows.
#pragma once

namespace tend {

class Tensor;

/// Computes the distance between every row of x1 and every row of x2.
///
/// x1 is (..., n, d), x2 is (..., m, d), and the result is (..., n, m): element (i, j) is
/// norm(x1[..., i, :] - x2[..., j, :], p). Leading dimensions broadcast. The inputs and the result
/// have one floating dtype.
///
/// For p = 2 and more than 25 rows in x1 or x2, the distances come from a matrix product. Then a
/// distance loses digits if it is small compared with the norms of the rows. Orders other than 0,
/// 1, 2 and infinity need memory for all differences. The gradient is the gradient of norm, with
/// one exception: for p = infinity, each of several equal largest differences gets the whole
/// gradient.
///
/// Throws:
///   ShapeError - the rows differ in length, or an input has fewer than two dimensions
///   ShapeError - the leading dimensions do not broadcast
///   DTypeError - the inputs do not have one floating dtype
///   Error      - p is negative
///
/// https://pytorch.org/docs/2.6/generated/torch.cdist.html
Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);

}  // namespace tend
