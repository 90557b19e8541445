/// \file
/// Softmax over the scores that a mask leaves.
#pragma once

#include <tend/autograd/tensor/tensor.h>

namespace tend::attention {

/// y = softmax over the last dimension of the scores that `mask` leaves: bool, true where to
/// attend; or floating, added; or undefined. It broadcasts to the scores (ShapeError) and is not
/// int64, and the scores are floating (DTypeError). A row with nothing left, or with no score above
/// -inf, is all zeros, where torch.softmax has NaN. For the gradient g of y that of the scores, and
/// of a floating mask, is y (g - sum(g y)), zero where nothing is left.
Tensor masked_softmax(const Tensor& scores, const Tensor& mask);

}  // namespace tend::attention
