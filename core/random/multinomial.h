// Drawing categories by their weights.
#pragma once

#include <tend/core/array/array.h>
#include <tend/core/random/random.h>

namespace tend::kernels {

/// Category numbers drawn with the (not normalised) weights of the last dimension of
/// `probabilities`, (n,) or (m, n), into `out`, int64 (samples,) or (m, samples). Without
/// replacement a row needs as many positive weights as samples. PyTorch: torch.multinomial.
void multinomial(const Array& out, const Array& probabilities, bool replacement = false,
                 Generator& generator = default_generator());

}  // namespace tend::kernels
