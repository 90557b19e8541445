/// \file
/// Dropout.
#pragma once

#include <tend/core/base/strict.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;

/// Zeroes each element with probability p while training, and multiplies the others by 1 / (1 - p).
///
/// Without `training` it returns self. self is floating. The result has its shape and dtype. The
/// factor 1 / (1 - p) is rounded as in PyTorch. The gradient of an element is the number by which
/// it was multiplied.
///
/// The random numbers come from the generator's Bernoulli stream. As in PyTorch, they go to the
/// elements in the order in which these are in memory. This is row-major order, except for permuted
/// views. MKL's stream always uses row-major order. With p = 0 and p = 1 no random numbers are
/// used.
///
/// Throws:
///   DTypeError - self is not floating
///   Error      - p is not in [0, 1]
///
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.dropout.html
Tensor dropout(const Tensor& self, double p = 0.5, Flag training = true,
               Generator& generator = default_generator());

}  // namespace tend
