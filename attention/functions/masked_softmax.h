/// \file
/// Softmax over the scores that a mask leaves visible.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// Softmax over the last dimension of `scores`, restricted to the scores that `mask` leaves
/// visible.
///
/// scores is (..., queries, keys), floating, and so is the result. The mask broadcasts to the
/// scores. bool: true where a query may attend to a key. Floating: added to the scores. Undefined:
/// no mask. If a row has no visible score above -inf, its weights are all zeros, where
/// torch.softmax has NaN.
///
/// For the gradient g of the result y, the gradient of the scores and of a floating mask is
/// y (g - sum(g y)). It is zero in rows without visible scores.
///
/// Throws:
///   ShapeError - the mask does not broadcast to the scores
///   DTypeError - the mask is int64, or the scores are not floating
Tensor masked_softmax(const Tensor& scores, const Tensor& mask);

}  // namespace tend::attention
