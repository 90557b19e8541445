// Layer and root mean square normalisation of the rows of a matrix, and their gradients.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// Arrays are row-major, of one dtype, float32 or float64 (DTypeError): matrices have shape
// (rows, n), weight and bias (n), mean and rstd (rows). Undefined arrays are left out.
// Rows of fewer than 16 elements are summed from left to right; no sum depends on the number of
// threads.
//
// Errors are bounded in terms of u, half an ulp of 1, and s = n / 4 + 4 (n below 16), what a sum
// may lose; x stands for (a - mean) * rstd.

/// out = (a - mean) * rstd * weight + bias, with each row's mean and rstd = 1 / sqrt(var + eps),
/// var its biased variance. Off by at most
/// u (|weight| (|mean| rstd + s + 2 + (s / 2 + 7) |x|) + |out|).
/// Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
void layer_norm(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                const Array& weight, const Array& bias, double eps);

/// The gradients of a, weight and bias, given the gradient `grad` of layer_norm's result.
/// That of a is off by at most u rstd (s + 10) (|g| + mean(|g|) + |x| mean(|g x|)), g short for
/// weight * grad; those of weight and bias by u (rows + 4) times the sum of their terms' sizes.
void layer_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad_bias,
                         const Array& grad, const Array& a, const Array& mean, const Array& rstd,
                         const Array& weight);

/// out = a * rstd * weight, with each row's rstd = 1 / sqrt(mean(a^2) + eps); off by at most
/// u (s / 2 + 8) |out|. Zhang and Sennrich, Root Mean Square Layer Normalization, 2019,
/// arXiv:1910.07467.
void rms_norm(const Array& out, const Array& rstd, const Array& a, const Array& weight, double eps);

/// The gradients of a and weight, given the gradient `grad` of rms_norm's result; bounds as above,
/// without mean(|g|).
void rms_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad,
                       const Array& a, const Array& rstd, const Array& weight);

}  // namespace tend::kernels
