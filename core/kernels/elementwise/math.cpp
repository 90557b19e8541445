#include <tend/core/kernels/elementwise/math.h>

#include <tend/core/kernels/elementwise/formulas.h>
#include <tend/core/kernels/elementwise/map_spans.h>

namespace tend::kernels {
namespace {

// For int64; DTypeError for others.
template <class F>
void map_whole(std::string_view operation, const Array& out, const Array& a, F f) {
  visit_number(operation, out.dtype(), [](auto) {});
  map<std::int64_t, std::int64_t>(out, a, f);
}

}  // namespace

void exp(const Array& out, const Array& a) {
  map_floating_spans("exp", Function::exp, out, a);
}
void exp2(const Array& out, const Array& a) {
  map_floating_spans("exp2", Function::exp2, out, a);
}
void expm1(const Array& out, const Array& a) {
  map_floating_spans("expm1", Function::expm1, out, a);
}
void log(const Array& out, const Array& a) {
  map_floating_spans("log", Function::log, out, a);
}
void log2(const Array& out, const Array& a) {
  map_floating_spans("log2", Function::log2, out, a);
}
void log10(const Array& out, const Array& a) {
  map_floating_spans("log10", Function::log10, out, a);
}
void log1p(const Array& out, const Array& a) {
  map_floating_spans("log1p", Function::log1p, out, a);
}
void sqrt(const Array& out, const Array& a) {
  map_floating_spans("sqrt", Function::sqrt, out, a);
}
void rsqrt(const Array& out, const Array& a) {
  map_floating_spans("rsqrt", Function::rsqrt, out, a);
}
void reciprocal(const Array& out, const Array& a) {
  map_floating_spans("reciprocal", Function::reciprocal, out, a);
}
void sin(const Array& out, const Array& a) {
  map_floating_spans("sin", Function::sin, out, a);
}
void cos(const Array& out, const Array& a) {
  map_floating_spans("cos", Function::cos, out, a);
}
void tan(const Array& out, const Array& a) {
  map_floating_spans("tan", Function::tan, out, a);
}
void asin(const Array& out, const Array& a) {
  map_floating_spans("asin", Function::asin, out, a);
}
void acos(const Array& out, const Array& a) {
  map_floating_spans("acos", Function::acos, out, a);
}
void atan(const Array& out, const Array& a) {
  map_floating_spans("atan", Function::atan, out, a);
}
void sinh(const Array& out, const Array& a) {
  map_floating_spans("sinh", Function::sinh, out, a);
}
void cosh(const Array& out, const Array& a) {
  map_floating_spans("cosh", Function::cosh, out, a);
}
void tanh(const Array& out, const Array& a) {
  map_floating_spans("tanh", Function::tanh, out, a);
}
void sigmoid(const Array& out, const Array& a) {
  map_floating_spans("sigmoid", Function::sigmoid, out, a);
}
void erf(const Array& out, const Array& a) {
  map_floating_spans("erf", Function::erf, out, a);
}
void erfc(const Array& out, const Array& a) {
  map_floating_spans("erfc", Function::erfc, out, a);
}
void floor(const Array& out, const Array& a) {
  map_floating_spans("floor", Function::floor, out, a);
}
void ceil(const Array& out, const Array& a) {
  map_floating_spans("ceil", Function::ceil, out, a);
}
void round(const Array& out, const Array& a) {
  map_floating_spans("round", Function::round, out, a);
}
void trunc(const Array& out, const Array& a) {
  map_floating_spans("trunc", Function::trunc, out, a);
}

void atan2(const Array& out, const Array& a, const Array& b) {
  map_floating_spans("atan2", BinaryFunction::atan2, out, a, b);
}
void logaddexp(const Array& out, const Array& a, const Array& b) {
  map_floating_spans("logaddexp", BinaryFunction::logaddexp, out, a, b);
}
void xlogy(const Array& out, const Array& a, const Array& b) {
  map_floating_spans("xlogy", BinaryFunction::xlogy, out, a, b);
}

void square(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return map_floating_spans("square", Function::square, out, a);
  map_whole("square", out, a, [](std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return static_cast<std::int64_t>(bits * bits);  // wraps around
  });
}

void relu(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return map_floating_spans("relu", Function::relu, out, a);
  map_whole("relu", out, a, [](std::int64_t x) { return std::max<std::int64_t>(x, 0); });
}

void silu(const Array& out, const Array& x) {
  map_floating_spans("silu", Function::silu, out, x);
}
void gelu(const Array& out, const Array& x, bool tanh_approx) {
  map_floating_spans("gelu", tanh_approx ? Function::gelu_tanh : Function::gelu, out, x);
}

void tanh_backward(const Array& out, const Array& grad, const Array& y) {
  compute("tanh_backward", PairFormula::tanh_backward, {}, out, grad, y);
}
void sigmoid_backward(const Array& out, const Array& grad, const Array& y) {
  compute("sigmoid_backward", PairFormula::sigmoid_backward, {}, out, grad, y);
}
void silu_backward(const Array& out, const Array& grad, const Array& x) {
  compute("silu_backward", PairFormula::silu_backward, {}, out, grad, x);
}
void gelu_backward(const Array& out, const Array& grad, const Array& x, bool tanh_approx) {
  const auto formula = tanh_approx ? PairFormula::gelu_tanh_backward : PairFormula::gelu_backward;
  compute("gelu_backward", formula, {}, out, grad, x);
}

}  // namespace tend::kernels
