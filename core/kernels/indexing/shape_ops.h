// Joining and reversing arrays, and making them by a formula.
#pragma once

#include <span>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// The arrays one after the other along `dim` (wrapped), converted to out's dtype. They agree in
/// all other dimensions, and their sizes along `dim` add up to out's; an empty 1-d array is skipped
/// whatever the rank, as in PyTorch.
void cat(const Array& out, std::span<const Array> arrays, std::int64_t dim);

/// out = a read backwards along `dims`, which are wrapped and differ; both have one shape and
/// dtype.
void flip(const Array& out, const Array& a, const Shape& dims);

/// out[i] = start + i * step, rounded once from double (int64 is exact); `out` is 1-d and not bool
/// (DTypeError).
void arange(const Array& out, const Scalar& start, const Scalar& step);

/// out.size(0) numbers at even distances from start to end, both included, rounded once from
/// double; `out` is 1-d and floating (DTypeError). A single number is `start`.
void linspace(const Array& out, const Scalar& start, const Scalar& end);

/// Ones on the main diagonal of a 2-d `out`, zeros elsewhere.
void eye(const Array& out);

}  // namespace tend::kernels
