/// \file
/// Dropout.
#pragma once

#include <tend/core/base/strict.h>
#include <tend/core/random/random.h>

namespace tend {

class Tensor;

/// While training, zeroes each element of self with probability p and multiplies the others by
/// 1 / (1 - p), as PyTorch rounds it; otherwise returns self. The mask is drawn from the
/// generator's Bernoulli stream, in the order in which elements lie in memory, as in PyTorch: in
/// row-major order but for permuted views; MKL's stream always in row-major order. p = 0 and p = 1
/// draw nothing. Floating only (DTypeError); Error unless 0 <= p <= 1. The gradient is what the
/// element was multiplied by.
/// https://pytorch.org/docs/2.6/generated/torch.nn.functional.dropout.html
Tensor dropout(const Tensor& self, double p = 0.5, Flag training = true,
               Generator& generator = default_generator());

}  // namespace tend
