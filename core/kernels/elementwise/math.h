// Elementwise functions of one real variable, as IEEE 754 and C's math.h define them on infinities
// and NaN. Outputs are allocated with the input's dtype and the result's shape, to which the input
// broadcasts; the output may be the same view as the input. float32 and float64 unless stated;
// DTypeError otherwise.
//
// The number beside a function is its largest error in either dtype, on every SIMD target, in ulp:
// units in the last place of the exact result, unless they are said to be those of another number.
// Functions without a number are rounded correctly. A result depends on the value of its element
// only, not on its position.
#pragma once

#include <tend/core/array/array.h>

namespace tend::kernels {

// The functions of math_table.h: void exp(const Array& out, const Array& a), and so on.
#define TEND_FUNCTION(name, formula) void name(const Array& out, const Array& a);
#include <tend/core/kernels/elementwise/math_table.h>
#undef TEND_FUNCTION

/// a * a; int64 too.
void square(const Array& out, const Array& a);
/// a * a * a, rounded after each product, 1.5 ulp; int64 too.
void cube(const Array& out, const Array& a);

/// grad * (1 - y^2), y = tanh(a); out, grad and y have one dtype.
void tanh_backward(const Array& out, const Array& grad, const Array& y);

/// grad * y * (1 - y), y = sigmoid(a); out, grad and y have one dtype.
void sigmoid_backward(const Array& out, const Array& grad, const Array& y);

/// max(a, 0), NaN stays NaN; int64 too.
void relu(const Array& out, const Array& a);

// Of two inputs, which have one dtype.

/// The angle of the point (b, a); 3.2 ulp
void atan2(const Array& out, const Array& a, const Array& b);
/// log(exp(a) + exp(b)), without their overflow; 2.5 ulp, of 1 where the result is smaller
void logaddexp(const Array& out, const Array& a, const Array& b);
/// a log(b); 0 where a is 0, unless b is NaN; 1.75 ulp
void xlogy(const Array& out, const Array& a, const Array& b);

/// x sigmoid(x). Elfwing, Uchibe and Doya, Sigmoid-Weighted Linear Units, 2017, arXiv:1702.03118.
/// 3.5 ulp; below -87 (float64: -708) also 3 |x| of the smallest number over 0.
void silu(const Array& out, const Array& x);
/// grad times the derivative of silu at x, which is off by 2.5 ulp of 1 at most; out, grad and x
/// have one dtype.
void silu_backward(const Array& out, const Array& grad, const Array& x);

/// x Phi(x), Phi the normal distribution function; or its approximation by
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). Hendrycks and Gimpel, Gaussian Error Linear
/// Units, 2016, arXiv:1606.08415. 4 ulp of x: 8 of the result from 0 on, more and more below, where
/// float32 loses the result near -5.5. The approximation: 2.75 ulp from 0 on, 2.75 (1 + |z|)
/// below, z = sqrt(8 / pi) (x + 0.044715 x^3), and as silu where exp(z) is below the normal
/// numbers.
void gelu(const Array& out, const Array& x, bool tanh_approx);
/// grad times the derivative of gelu at x, which is off by 2.5 ulp of 1 at most; out, grad and x
/// have one dtype.
void gelu_backward(const Array& out, const Array& grad, const Array& x, bool tanh_approx);

}  // namespace tend::kernels
