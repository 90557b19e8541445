// Layer and root mean square normalisation of the rows of a matrix, and their gradients.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// Arrays are row-major and have one dtype, float32 or float64; other dtypes are a DTypeError.
// Matrices have shape (rows, n), weight and bias (n), mean and rstd (rows). An undefined input is
// left out of the formula, and an undefined output is not computed. Rows of fewer than 16 elements
// are summed from left to right. No sum depends on the number of threads.
//
// The bounds on errors use u, half an ulp of 1, and s, the bound on the error of a sum in units of
// u: n / 4 + 4, or n for n below 16. x is (a - mean) * rstd.

/// out = (a - mean) * rstd * weight + bias, where rstd = 1 / sqrt(var + eps).
///
/// mean and var are the mean and the biased variance of each row. The error is at most
/// u (|weight| (|mean| rstd + s + 2 + (s / 2 + 7) |x|) + |out|).
///
/// Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
void layer_norm(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                const Array& weight, const Array& bias, double eps);

/// The gradients of a, weight and bias. `grad` is the gradient of layer_norm's result.
///
/// With g = weight * grad, the error of the gradient of a is at most
/// u rstd (s + 10) (|g| + mean(|g|) + |x| mean(|g x|)). The error of the gradients of weight and
/// bias is at most u (rows + 4) times the sum of the magnitudes of their terms.
void layer_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad_bias,
                         const Array& grad, const Array& a, const Array& mean, const Array& rstd,
                         const Array& weight);

/// out = a * rstd * weight, where rstd = 1 / sqrt(mean(a^2) + eps) for each row.
///
/// The error is at most u (s / 2 + 8) |out|.
///
/// Zhang and Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467.
void rms_norm(const Array& out, const Array& rstd, const Array& a, const Array& weight, double eps);

/// The gradients of a and weight. `grad` is the gradient of rms_norm's result.
///
/// The bounds on errors are the same as for layer_norm_backward, without mean(|g|).
void rms_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad,
                       const Array& a, const Array& rstd, const Array& weight);

}  // namespace tend::kernels
