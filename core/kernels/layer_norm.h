// Layer and root mean square normalisation of the rows of a matrix, and the products that their
// gradients need.
#pragma once

#include <tend/core/array.h>

namespace tend::kernels {

// Arrays are row-major, of one dtype, float32 or float64 (DTypeError): matrices have shape
// (rows, n), weight and bias (n), mean and rstd (rows). What is undefined is left out.
// Rows of fewer than 16 elements are summed from left to right; no sum depends on the number of
// threads.

/// out = (a - mean) * rstd * weight + bias, with each row's mean and rstd = 1 / sqrt(var + eps),
/// var its biased variance. Ba, Kiros and Hinton, Layer Normalization, 2016, arXiv:1607.06450.
void layer_norm(const Array& out, const Array& mean, const Array& rstd, const Array& a,
                const Array& weight, const Array& bias, double eps);

/// The gradients of a, weight and bias for the cotangent `grad` of layer_norm's result.
void layer_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad_bias,
                         const Array& grad, const Array& a, const Array& mean, const Array& rstd,
                         const Array& weight);

/// out = a * rstd * weight, with each row's rstd = 1 / sqrt(mean(a^2) + eps). Zhang and Sennrich,
/// Root Mean Square Layer Normalization, 2019, arXiv:1910.07467.
void rms_norm(const Array& out, const Array& rstd, const Array& a, const Array& weight, double eps);

/// The gradients of a and weight for the cotangent `grad` of rms_norm's result.
void rms_norm_backward(const Array& grad_a, const Array& grad_weight, const Array& grad,
                       const Array& a, const Array& rstd, const Array& weight);

}  // namespace tend::kernels
