// Random categories, chosen by their weights.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend::kernels {

/// Fills `out` with random category numbers, chosen by the weights in `probabilities`.
///
/// `probabilities` is float32 or float64, of shape (n,) or (m, n). Each row contains the weights of
/// n categories, which need not sum to 1. `out` is int64, of shape (samples,) or (m, samples).
/// Without replacement, a row must have at least `samples` positive weights. PyTorch:
/// torch.multinomial.
///
/// Throws:
///   DTypeError - `probabilities` is not float32 or float64, or `out` is not int64
///   ShapeError - the shapes do not fit, or `out` has no room for a sample
///   ShapeError - there are more than 2^24 categories
///   ShapeError - there are more samples than categories, without replacement
///   ShapeError - two indices of `out` refer to the same element
///   Error      - a weight is negative or not finite
///   Error      - a row has too few positive weights
void multinomial(const Array& out, const Array& probabilities, bool replacement = false,
                 Generator& generator = default_generator());

}  // namespace tend::kernels
