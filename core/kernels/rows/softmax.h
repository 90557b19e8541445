// Softmax and its logarithm along one dimension, and their gradients. All arrays have one shape and
// one dtype, float32 or float64, and any strides. `dim` may count from the end. The output may be
// the same view as an input.
//
// Throws:
//   DTypeError - the dtype is not float32 or float64
//   IndexError - `dim` is out of range
//
// The order of sums depends on the length of the dimension and on the memory layout: contiguous
// rows, columns that are next to each other, or elements that are apart. Rows of fewer than 16
// elements are computed as precisely as float32 allows, in every layout: exp is correctly rounded,
// and the sum runs from left to right. In longer rows, subnormal results may become too
// small, or 0.
//
// The bounds on errors use u, half an ulp of 1, and s, the bound on the error of a sum of n terms
// in units of u: n / 4 + 4 (float64 and columns: n + 4).
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// exp(a - m) / sum(exp(a - m)), where m is the largest element.
///
/// The result is NaN where a row is all -inf, or contains NaN or +inf, as in PyTorch. The error is
/// at most u (|a - m| + s + 4) times the result. Its causes are the rounding of a - m, exp, the sum
/// and the product.
void softmax(const Array& out, const Array& a, std::int64_t dim);
/// a - m - log(sum(exp(a - m))). The error is at most u (2 |a - m| + s + 4 + 3 log(sum)).
void log_softmax(const Array& out, const Array& a, std::int64_t dim);

/// y * (grad - sum(grad * y)) for y = softmax(a).
///
/// The error is at most u s y (|grad| + sum(|grad * y|)).
void softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim);
/// grad - exp(y) * sum(grad) for y = log_softmax(a).
///
/// The error is at most u s (|grad| + exp(y) sum(|grad|)).
void log_softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim);

}  // namespace tend::kernels
