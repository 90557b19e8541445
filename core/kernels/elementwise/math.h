// Elementwise functions of one real variable. On infinities and NaN they follow IEEE 754 and C's
// math.h. The caller must allocate outputs with the input's dtype and the result's shape. The input
// broadcasts to this shape. The output may be the input itself. Unless stated otherwise, functions
// accept float32 and float64, and throw DTypeError for other dtypes.
//
// The number in a function's comment is its largest error in either dtype, on every SIMD target.
// Its unit is the ulp: the unit in the last place of the exact result, unless another number is
// named. Functions without a number are rounded correctly. A result depends only on the value of
// its element, not on the position.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// The functions of math_table.h: void exp(const Array& out, const Array& a), and so on.
#define TEND_FUNCTION(name, formula) void name(const Array& out, const Array& a);
#include <tend/core/kernels/elementwise/math_table.h>
#undef TEND_FUNCTION

/// a * a. Also for int64.
void square(const Array& out, const Array& a);
/// a * a * a, rounded after each product; 1.5 ulp. Also for int64.
void cube(const Array& out, const Array& a);

/// grad * (1 - y^2), for y = tanh(a). out, grad and y have one dtype.
void tanh_backward(const Array& out, const Array& grad, const Array& y);

/// grad * y * (1 - y), for y = sigmoid(a). out, grad and y have one dtype.
void sigmoid_backward(const Array& out, const Array& grad, const Array& y);

/// max(a, 0). NaN stays NaN. Also for int64.
void relu(const Array& out, const Array& a);

// Functions of two inputs, which have one dtype.

/// The angle of the point (b, a); 3.2 ulp.
void atan2(const Array& out, const Array& a, const Array& b);
/// log(exp(a) + exp(b)), without overflow of the exponentials; 2.5 ulp, or 2.5 ulp of 1 where the
/// result is smaller than 1.
void logaddexp(const Array& out, const Array& a, const Array& b);
/// a log(b), and 0 where a is 0, unless b is NaN; 1.75 ulp.
void xlogy(const Array& out, const Array& a, const Array& b);

/// x sigmoid(x).
///
/// The error is at most 3.5 ulp. For x below -87 (float64: -708), the error may be larger by 3 |x|
/// times the smallest positive number.
///
/// Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017, arXiv:1702.03118.
void silu(const Array& out, const Array& x);
/// grad times the derivative of silu at x. The error of the derivative is at most 2.5 ulp of 1.
/// out, grad and x have one dtype.
void silu_backward(const Array& out, const Array& grad, const Array& x);

/// x Phi(x), where Phi is the normal distribution function, or its approximation with tanh_approx.
///
/// The approximation is x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
///
/// The error without tanh_approx is at most 4 ulp of x. For x >= 0, this is at most 8 ulp of the
/// result. For x < 0, the error relative to the result grows, and float32 loses the result near
/// -5.5.
///
/// The error with tanh_approx is at most 2.75 ulp for x >= 0, and 2.75 (1 + |z|) ulp for x < 0,
/// where z = sqrt(8 / pi) (x + 0.044715 x^3). Where exp(z) is subnormal or 0, the error is as
/// large as silu's.
///
/// Hendrycks and Gimpel, Gaussian Error Linear Units, 2016, arXiv:1606.08415.
void gelu(const Array& out, const Array& x, bool tanh_approx);
/// grad times the derivative of gelu at x. The error of the derivative is at most 2.5 ulp of 1.
/// out, grad and x have one dtype.
void gelu_backward(const Array& out, const Array& grad, const Array& x, bool tanh_approx);

}  // namespace tend::kernels
