// Clipping gradients.
#pragma once

#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/strict.h>

namespace tend::nn {

struct ClipGradNormOptions {
  double norm_type = 2;             ///< The order p of the norm; inf is the largest |x|.
  Flag error_if_nonfinite = false;  ///< Whether a norm that is not finite is an Error.
};

/// Scales all gradients by one factor so that their common norm is at most `max_norm`, and returns
/// the norm that they had (torch.nn.utils.clip_grad_norm_): that of the norms of all gradients,
/// (sum |x|^p)^(1/p) of all elements, but for p = 0, where it is the number of gradients that are
/// not zero. Tensors without gradient are skipped. Error for a max_norm that is negative or NaN and
/// a norm_type that is NaN; ShapeError for a gradient that names an element twice, and for one that
/// no longer has its tensor's shape (DTypeError: dtype), before any is scaled. With a norm that is
/// not finite all gradients become NaN or zero, as in PyTorch, unless it is to be an error.
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       const ClipGradNormOptions& options = {});

/// Sets the elements of all gradients that are greater than `clip_value`, or less than its
/// negative, to that (torch.nn.utils.clip_grad_value_); NaN stays. Error for a clip_value that is
/// negative or NaN; ShapeError and DTypeError as above.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace tend::nn
