// Arrays made of others, and of rules.
#pragma once

#include <span>

#include <tend/core/array.h>

namespace tend::kernels {

/// The arrays one after the other along `dim` (wrapped), converted to out's dtype. They agree in
/// all other dimensions, and their sizes along `dim` add up to out's; an empty 1-d array is skipped
/// whatever the rank, as in PyTorch.
void cat(const Array& out, std::span<const Array> arrays, std::int64_t dim);

/// out[i] = start + i * step, computed in double (int64 for int64); `out` is 1-d.
void arange(const Array& out, const Scalar& start, const Scalar& step);

/// out.size(0) numbers from start to end, both included, as torch.linspace computes them: from the
/// start in the first half and from the end in the second; `out` is 1-d.
void linspace(const Array& out, const Scalar& start, const Scalar& end);

/// Ones on the main diagonal of a 2-d `out`, zeros elsewhere.
void eye(const Array& out);

}  // namespace tend::kernels
