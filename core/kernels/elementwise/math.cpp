#include <tend/core/kernels/elementwise/math.h>

#include <tend/core/kernels/elementwise/formulas.h>
#include <tend/core/kernels/elementwise/map_spans.h>

namespace tend::kernels {
namespace {

// Maps int64 elements. Throws DTypeError for bool.
template <class F>
void map_whole(std::string_view operation, const Array& out, const Array& a, F f) {
  visit_number(operation, out.dtype(), [](auto) {});
  map<std::int64_t, std::int64_t>(out, a, f);
}

// Overflow wraps around, without undefined behaviour.
std::int64_t wrapped_product(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}

}  // namespace

#define TEND_FUNCTION(name, formula)                   \
  void name(const Array& out, const Array& a) {        \
    map_floating_spans(#name, Function::name, out, a); \
  }
#include <tend/core/kernels/elementwise/math_table.h>
#undef TEND_FUNCTION

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
  map_whole("square", out, a, [](std::int64_t x) { return wrapped_product(x, x); });
}
void cube(const Array& out, const Array& a) {
  if (is_floating(out.dtype())) return map_floating_spans("cube", Function::cube, out, a);
  map_whole("cube", out, a,
            [](std::int64_t x) { return wrapped_product(wrapped_product(x, x), x); });
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
