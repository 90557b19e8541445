// Formulas of one, two or three numbers and parameters, applied to all elements of arrays in one
// pass over memory. Composed operations on arrays would need several passes. Some formulas are
// derivatives: a gradient times the slope of a function.
#pragma once

#include <string_view>

#include <tend/core/array/array.h>

namespace tend::kernels {

struct Parameters {
  double a = 0, b = 0, c = 0;
};

/// Formulas of one number x, with the parameters a, b and c.
enum class Formula {
  clamp,        ///< min(max(x, a), b); NaN stays NaN
  leaky_relu,   ///< x where it is positive, else a x
  elu,          ///< c x where x is positive, else a (exp(b x) - 1)
  softplus,     ///< log(1 + exp(a x)) / a; x where a x exceeds b
  logsigmoid,   ///< log(sigmoid(x))
  mish,         ///< x tanh(log(1 + exp(x)))
  hardsigmoid,  ///< (x + 3) / 6 between 0 and 1
  hardswish,    ///< x hardsigmoid(x)
  entr,         ///< -x log(x); 0 for x = 0, -infinity for negative x
  logit,        ///< log(z / (1 - z)), where z is x clamped to [a, b]
  nan_to_num    ///< a for NaN, b for infinity, c for -infinity, else x
};

/// Formulas of two numbers x and y. In derivatives, x is a gradient and y is the argument of the
/// function. For tanh, sigmoid and relu, y is the result of the function instead.
enum class PairFormula {
  gated,                      ///< x sigmoid(y)
  lerp,                       ///< x + a (y - x); if |a| >= 1/2, computed as y - (y - x) (1 - a)
  squared_difference,         ///< (x - y)^2
  absolute_difference,        ///< |x - y|
  huber,                      ///< d^2 / 2 where d = |x - y| <= a, else a (d - a / 2)
  smooth_l1,                  ///< d^2 / (2 a) where d = |x - y| < a, else d - a / 2
  cross_entropy_with_logits,  ///< (1 - y) x - log(sigmoid(x))
  has_magnitude,              ///< 1 where |x| = y or both are NaN, else 0
  tanh_backward,
  sigmoid_backward,
  silu_backward,
  gelu_backward,
  gelu_tanh_backward,
  relu_backward,
  hardtanh_backward,  ///< 0 where y <= a or y >= b, else x
  clamp_backward,     ///< x where a <= y <= b, else 0
  leaky_relu_backward,
  elu_backward,
  softplus_backward,
  logsigmoid_backward,
  mish_backward,
  hardsigmoid_backward,
  hardswish_backward,
  logit_backward,  ///< the derivative where a <= y <= b, else c
  nan_to_num_backward
};

/// Formulas of three numbers x, y and z. In derivatives, x is a gradient, and y and z are the
/// arguments of the function. The derivative is with respect to y, unless stated otherwise.
enum class TripleFormula {
  addcmul,                 ///< x + a y z
  addcdiv,                 ///< x + a y / z
  lerp,                    ///< x + z (y - x); if |z| >= 1/2, computed as y - (y - x) (1 - z)
  clamp,                   ///< min(max(x, y), z); NaN if any number is NaN
  scaled_distance,         ///< x (y - z)
  scaled_power,            ///< x exp(y - z)
  signed_where_magnitude,  ///< x sign(y) where |y| = z or both are NaN, else 0 times x
  gate_backward,           ///< the derivative of `gated` with respect to its second argument
  squared_difference_backward,
  absolute_difference_backward,
  huber_backward,
  smooth_l1_backward,
  cross_entropy_with_logits_backward
};

/// out = formula(inputs...), element by element.
///
/// All arrays have one floating dtype. Inputs broadcast to `out`, which may be the same view as an
/// input.
///
/// Throws: DTypeError - the dtype is not floating; the message names `operation`
void compute(std::string_view operation, Formula formula, Parameters parameters, const Array& out,
             const Array& x);
void compute(std::string_view operation, PairFormula formula, Parameters parameters,
             const Array& out, const Array& x, const Array& y);
void compute(std::string_view operation, TripleFormula formula, Parameters parameters,
             const Array& out, const Array& x, const Array& y, const Array& z);

}  // namespace tend::kernels
