// Clipping gradients.
#pragma once

#include <vector>

#include <tend/autograd/tensor.h>

namespace tend::nn {

/// Scales all gradients by one factor so that their common Euclidean norm is at most `max_norm`,
/// and returns the norm that they had (torch.nn.utils.clip_grad_norm_). Tensors without gradient
/// are passed over; a norm that is not finite makes all gradients NaN or zero, as it does there, so
/// look at the result.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace tend::nn
