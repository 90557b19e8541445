// Clipping gradients.
#pragma once

#include <vector>

#include <tend/autograd/tensor/tensor.h>

namespace tend::nn {

/// Scales all gradients by one factor so that their common Euclidean norm is at most `max_norm`,
/// and returns the norm that they had (torch.nn.utils.clip_grad_norm_). Tensors without gradient
/// are skipped. Error for a negative max_norm; ShapeError for a gradient that names an element
/// twice, and for one that no longer has its tensor's shape (DTypeError: dtype), before any is
/// scaled. With a norm that is not finite all gradients become NaN or zero, as in PyTorch, so look
/// at the result.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace tend::nn
