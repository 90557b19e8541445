// Steps that work on each element by itself.
#include "catalogue.h"

using namespace tend;

namespace fuzz {
namespace {

// `python` with the value's name in place of each @.
std::string fill(std::string python, const std::string& name) {
  for (std::size_t at = python.find('@'); at != std::string::npos; at = python.find('@', at)) {
    python.replace(at, 1, name);
    at += name.size();
  }
  return python;
}

// A function that needs no care about exactness: what it gives is not exact.
Entry unary(const std::string& name, const std::string& python, Tensor (*f)(const Tensor&)) {
  return {name, [python, f](Program& p) {
            const Value x = p.real();
            p.step(fill(python, x.name), f(x.tensor));
            return true;
          }};
}

// A function with jumps, of exact elements only.
Entry jumping(const std::string& name, const std::string& python, Tensor (*f)(const Tensor&)) {
  return {name, [python, f](Program& p) {
            const std::optional<Value> x = p.exact();
            if (!x) return false;
            p.step(fill(python, x->name), f(x->tensor), true);
            return true;
          }};
}

using Binary = Tensor (*)(const Tensor&, const Tensor&);

// A function of two tensors that broadcast; `python` has @ and $.
Entry binary(const std::string& name, const std::string& python, Binary f, bool keeps_exact) {
  return {name, [=](Program& p) {
            const Value a = p.real(), b = p.partner(a);
            if (name == "lerp" && a.tensor.dtype() != b.tensor.dtype()) return false;
            std::string text = fill(python, a.name);
            for (std::size_t at; (at = text.find('$')) != std::string::npos;) {
              text.replace(at, 1, b.name);
            }
            p.step(text, f(a.tensor, b.tensor), keeps_exact && a.exact && b.exact);
            return true;
          }};
}

std::vector<Entry> functions() {
  using T = const Tensor&;
  return {
      unary("exp", "torch.exp(torch.tanh(@))", [](T x) { return exp(tanh(x)); }),
      unary("exp2", "torch.exp2(torch.tanh(@))", [](T x) { return exp2(tanh(x)); }),
      unary("expm1", "torch.expm1(torch.sin(@))", [](T x) { return expm1(sin(x)); }),
      unary("log", "torch.log(@.abs() + 0.5)", [](T x) { return log(x.abs() + 0.5); }),
      unary("log2", "torch.log2(@ * @ + 0.5)", [](T x) { return log2(x * x + 0.5); }),
      unary("log10", "torch.log10(@ * @ + 1.5)", [](T x) { return log10(x * x + 1.5); }),
      unary("log1p", "torch.log1p(@ * @)", [](T x) { return log1p(x * x); }),
      unary("sqrt", "torch.sqrt(@ * @ + 0.1)", [](T x) { return sqrt(x * x + 0.1); }),
      unary("rsqrt", "torch.rsqrt(@ * @ + 0.5)", [](T x) { return rsqrt(x * x + 0.5); }),
      unary("square", "torch.square(@)", square),
      unary("sin", "torch.sin(@)", sin),
      unary("cos", "torch.cos(@)", cos),
      unary("tan", "torch.tan(torch.tanh(@))", [](T x) { return tan(tanh(x)); }),
      unary("asin", "torch.asin(torch.sin(@) * 0.9)", [](T x) { return asin(sin(x) * 0.9); }),
      unary("acos", "torch.acos(torch.tanh(@) * 0.9)", [](T x) { return acos(tanh(x) * 0.9); }),
      unary("atan", "torch.atan(@)", atan),
      unary("sinh", "torch.sinh(torch.tanh(@))", [](T x) { return sinh(tanh(x)); }),
      unary("cosh", "torch.cosh(torch.tanh(@))", [](T x) { return cosh(tanh(x)); }),
      unary("tanh", "torch.tanh(@)", tanh),
      unary("sigmoid", "torch.sigmoid(@)", sigmoid),
      unary("erf", "torch.erf(@)", erf),
      unary("erfc", "torch.erfc(@)", erfc),
      unary("reciprocal", "torch.reciprocal(@ * @ + 1)", [](T x) { return reciprocal(x * x + 1); }),
      unary("pow", "(@ * @ + 0.5) ** 1.5", [](T x) { return pow(x * x + 0.5, 1.5); }),
      unary("cube", "@ ** 3", [](T x) { return pow(x, 3); }),
      unary("power of number", "2.5 ** torch.sin(@)", [](T x) { return pow(Scalar(2.5), sin(x)); }),
      unary("silu", "F.silu(@)", silu),
      unary("gelu", "F.gelu(@)", [](T x) { return gelu(x); }),
      unary("gelu", "F.gelu(@, approximate='tanh')", [](T x) { return gelu(x, GeluKind::tanh); }),
      unary("elu", "F.elu(@)", [](T x) { return elu(x); }),
      unary("leaky_relu", "F.leaky_relu(@, 0.2)", [](T x) { return leaky_relu(x, 0.2); }),
      unary("softplus", "F.softplus(@)", [](T x) { return softplus(x); }),
      unary("mish", "F.mish(@)", mish),
      unary("logsigmoid", "F.logsigmoid(@)", logsigmoid),
      unary("hardtanh", "F.hardtanh(@)", [](T x) { return hardtanh(x); }),
      unary("numbers", "1.5 - @ / 2 + 0.25 * @", [](T x) { return 1.5 - x / 2 + 0.25 * x; }),
      unary("number over", "2 / (@ * @ + 1)", [](T x) { return 2 / (x * x + 1); }),
      unary("to", "@.to(torch.float64)", [](T x) { return x.to(float64); }),
  };
}

std::vector<Entry> exact_functions() {
  using T = const Tensor&;
  return {
      jumping("floor", "torch.floor(@)", floor),
      jumping("round", "torch.round(@)", round),
      jumping("sign", "torch.sign(@)", sign),
      jumping("trunc", "torch.trunc(@)", trunc),
      jumping("relu", "torch.relu(@)", relu),
      jumping("abs", "torch.abs(@)", abs),
      jumping("neg", "-@", neg),
      jumping("clamp", "torch.clamp(@, -0.7, 0.9)", [](T x) { return clamp(x, -0.7, 0.9); }),
      jumping("remainder", "torch.remainder(@, 0.75)", [](T x) { return remainder(x, 0.75); }),
      jumping("where", "torch.where(@ > 0.1, @, 2 * @)",
              [](T x) { return where(x > 0.1, x, 2 * x); }),
      jumping("masked_fill", "@.masked_fill(@ < -0.5, 0.25)",
              [](T x) { return masked_fill(x, x < -0.5, 0.25); }),
      jumping("bool product", "@ * (@ > 0)", [](T x) { return x * (x > 0); }),
      jumping("nan_to_num", "torch.nan_to_num(@)", [](T x) { return nan_to_num(x); }),
  };
}

std::vector<Entry> binaries() {
  using T = const Tensor&;
  return {
      binary(
          "add", "@ + $", [](T a, T b) { return a + b; }, true),
      binary(
          "sub", "@ - $", [](T a, T b) { return a - b; }, true),
      binary(
          "mul", "@ * $", [](T a, T b) { return a * b; }, true),
      binary(
          "div", "@ / ($ * $ + 0.5)", [](T a, T b) { return a / (b * b + 0.5); }, false),
      binary(
          "add with alpha", "torch.add(@, $, alpha=-1.5)", [](T a, T b) { return add(a, b, -1.5); },
          false),
      binary("maximum", "torch.maximum(@, $)", maximum, true),
      binary("minimum", "torch.minimum(@, $)", minimum, true),
      binary(
          "atan2", "torch.atan2(@, $ * $ + 0.5)", [](T a, T b) { return atan2(a, b * b + 0.5); },
          false),
      binary(
          "lerp", "torch.lerp(@, @ * $, 0.3)", [](T a, T b) { return lerp(a, a * b, 0.3); }, false),
      binary(
          "addcmul", "torch.addcmul(@, @, $, value=0.5)",
          [](T a, T b) { return addcmul(a, a, b, 0.5); }, false),
      binary(
          "addcdiv", "torch.addcdiv(@, @, $ * $ + 0.5, value=0.5)",
          [](T a, T b) { return addcdiv(a, a, b * b + 0.5, 0.5); }, false),
      binary(
          "logaddexp", "torch.logaddexp(torch.sin(@), $)",
          [](T a, T b) { return logaddexp(sin(a), b); }, false),
      binary(
          "xlogy", "torch.xlogy(@, $ * $ + 0.5)", [](T a, T b) { return xlogy(a, b * b + 0.5); },
          false),
      binary(
          "pow of tensors", "torch.pow(@ * @ + 0.5, torch.tanh($))",
          [](T a, T b) { return pow(a * a + 0.5, tanh(b)); }, false),
      binary(
          "where of two", "torch.where(@.detach() > 5, @, $)",
          [](T a, T b) { return where(a.detach() > 5, a, b); }, false),
  };
}

}  // namespace

std::vector<Entry> pointwise_entries() {
  std::vector<Entry> all = functions();
  for (const auto& more : {exact_functions(), binaries()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace fuzz
