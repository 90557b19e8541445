// Joining and reversing arrays, and creating arrays by a formula.
#pragma once

#include <span>

#include <tend/core/array/array.h>

namespace tend::kernels {

/// Joins the arrays along `dim`, which may count from the end, and converts them to out's dtype.
///
/// The arrays agree in all other dimensions, and their sizes along `dim` add up to out's size. An
/// empty 1-d array is skipped, whatever the rank of the other arrays is, as in PyTorch.
void cat(const Array& out, std::span<const Array> arrays, std::int64_t dim);

/// Reverses `a` along `dims`, which are in [0, rank) and unique. out and a have one shape and one
/// dtype.
void flip(const Array& out, const Array& a, const Shape& dims);

/// out[i] = start + i * step, rounded once from double; int64 is exact. `out` is 1-d.
///
/// Throws: DTypeError - `out` is bool
void arange(const Array& out, const Scalar& start, const Scalar& step);

/// out.size(0) numbers from start to end at equal distances, both included, rounded once from
/// double. `out` is 1-d. If out.size(0) is 1, the number is `start`.
///
/// Throws: DTypeError - `out` is not floating
void linspace(const Array& out, const Scalar& start, const Scalar& end);

/// Writes ones to the main diagonal of a 2-d `out`, and zeros elsewhere.
void eye(const Array& out);

}  // namespace tend::kernels
