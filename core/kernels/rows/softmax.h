// Softmax and its logarithm along one dimension, and their gradients.
// All arrays have one shape and one dtype, float32 or float64 (DTypeError), any strides; `dim` may
// count from the end (IndexError). The output may be the same view as an input.
//
// Sums run in an order that depends on the length of the dimension and on how its elements lie in
// memory: beside each other, as columns beside each other, or apart. Rows of fewer than 16 elements
// are computed as precisely as float32 allows: exp correctly rounded, the sum from left to right,
// in every layout. In longer ones weights below the normal numbers may become 0, or less than they
// should be.
//
// Errors are bounded in terms of u, half an ulp of 1, and s = n / 4 + 4 (float64 and columns: n +
// 4), what a sum of n terms may lose.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// exp(a - m) / sum(exp(a - m)), m the largest element. NaN where a row is all -inf, or holds NaN
/// or +inf, as in PyTorch. Off by at most u (|a - m| + s + 4) times the weight: its rounded
/// argument, exp, the sum and the product.
void softmax(const Array& out, const Array& a, std::int64_t dim);
/// a - m - log(sum(exp(a - m))); off by at most u (2 |a - m| + s + 4 + 3 log(sum))
void log_softmax(const Array& out, const Array& a, std::int64_t dim);

/// y * (grad - sum(grad * y)), y = softmax(a); off by at most u s y (|grad| + sum(|grad * y|))
void softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim);
/// grad - exp(y) * sum(grad), y = log_softmax(a); off by at most u s (|grad| + exp(y) sum(|grad|))
void log_softmax_backward(const Array& out, const Array& grad, const Array& y, std::int64_t dim);

}  // namespace tend::kernels
