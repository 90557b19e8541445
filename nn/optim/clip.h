// Clipping gradients.
#pragma once

#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/strict.h>

namespace tend::nn {

/// The options of clip_grad_norm_.
struct ClipGradNormOptions {
  double norm_type = 2;             ///< The order p of the norm; with inf, it is the largest |x|.
  Flag error_if_nonfinite = false;  ///< A norm that is not finite is an Error.
};

/// Scales all gradients by one factor so that their common norm is at most `max_norm`. Returns the
/// norm before that (torch.nn.utils.clip_grad_norm_).
///
/// The norm is (sum |x|^p)^(1/p) over the elements of all gradients. For p = 0 it is the number of
/// gradients that are not zero. Tensors without a gradient are skipped. If the norm is not finite,
/// all gradients become NaN or zero, as in PyTorch. Everything is checked before any gradient is
/// scaled.
///
/// Throws:
///   Error      - max_norm is negative or NaN, or norm_type is NaN
///   Error      - the norm is not finite and error_if_nonfinite is true
///   ShapeError - two indices of a gradient share an element
///   ShapeError - a gradient no longer has its tensor's shape
///   DTypeError - a gradient no longer has its tensor's dtype
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                       const ClipGradNormOptions& options = {});

/// Clamps the elements of all gradients to [-clip_value, clip_value]; NaN stays
/// (torch.nn.utils.clip_grad_value_).
///
/// Throws:
///   Error      - clip_value is negative or NaN
///   ShapeError - as clip_grad_norm_()
///   DTypeError - as clip_grad_norm_()
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace tend::nn
