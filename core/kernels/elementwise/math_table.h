// Functions of one floating number: TEND_FUNCTION(name, formula of the tag d and the lanes x). Each
// row defines the kernel `name` of math.h. The number in a comment is the largest error, in the
// units of math.h.
// clang-format off
// (The rows are not statements, so clang-format would misread them.)

/// 1.05 ulp
TEND_FUNCTION(exp, exp(d, x))
/// 1.15 ulp
TEND_FUNCTION(exp2, exp2(d, x))
/// 2.25 ulp
TEND_FUNCTION(expm1, expm1(d, x))
/// 3.7 ulp
TEND_FUNCTION(
    exp2m1,
    hn::IfThenElse(hn::Lt(hn::Abs(x), one(d)),
                   expm1(d, hn::Mul(x, hn::Set(d, hn::TFromD<decltype(d)>(0.6931471805599453)))),
                   hn::Sub(exp2(d, x), one(d))))
/// 0.85 ulp
TEND_FUNCTION(log, log(d, x))
/// 1.9 ulp
TEND_FUNCTION(log2, log2(d, x))
/// 2.0 ulp
TEND_FUNCTION(log10, log10(d, x))
/// 1.5 ulp
TEND_FUNCTION(log1p, log1p(d, x))
TEND_FUNCTION(sqrt, hn::Sqrt(x))
/// 1 / sqrt(a); 1.5 ulp
TEND_FUNCTION(rsqrt, hn::Div(one(d), hn::Sqrt(x)))
/// 1 / a
TEND_FUNCTION(reciprocal, hn::Div(one(d), x))
/// 2.8 ulp
TEND_FUNCTION(sin, sin(d, x))
/// 2.75 ulp
TEND_FUNCTION(cos, cos(d, x))
/// 4.25 ulp
TEND_FUNCTION(tan, tan(d, x))
/// 2.5 ulp
TEND_FUNCTION(asin, hn::Asin(d, x))
/// 1.3 ulp
TEND_FUNCTION(acos, hn::Acos(d, x))
/// 2.8 ulp
TEND_FUNCTION(atan, hn::Atan(d, x))
/// 2.5 ulp
TEND_FUNCTION(sinh, sinh(d, x))
/// 1.55 ulp
TEND_FUNCTION(cosh, cosh(d, x))
/// 2.75 ulp
TEND_FUNCTION(tanh, tanh(d, x))
/// 1 / (1 + exp(-a)); 2.45 ulp
TEND_FUNCTION(sigmoid, sigmoid(d, x))
/// 1.9 ulp
TEND_FUNCTION(erf, erf(d, x))
/// 1 - erf(a); 7.5 ulp
TEND_FUNCTION(erfc, erfc(d, x))
TEND_FUNCTION(floor, floor(x))
TEND_FUNCTION(ceil, ceil(x))
/// To the nearest integer; halves go to the even one.
TEND_FUNCTION(round, round(x))
TEND_FUNCTION(trunc, trunc(x))
