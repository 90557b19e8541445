// Activation functions of neural networks; relu, silu and gelu are in math.h. The caller must
// allocate outputs with the input's dtype and the result's shape. The input broadcasts to this
// shape. The output may be the input itself. All functions accept float32 and float64, and throw
// DTypeError otherwise. NaN stays NaN.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

/// x where it is positive, else slope * x
void leaky_relu(const Array& out, const Array& x, double slope);
/// scale * x where x is positive, else scale * alpha * (exp(input_scale * x) - 1)
void elu(const Array& out, const Array& x, double alpha, double scale = 1, double input_scale = 1);
/// log(1 + exp(beta * x)) / beta, or x where beta * x exceeds the threshold
void softplus(const Array& out, const Array& x, double beta, double threshold);
/// log(sigmoid(x))
void logsigmoid(const Array& out, const Array& x);
/// x tanh(log(1 + exp(x)))
void mish(const Array& out, const Array& x);

}  // namespace tend::kernels
