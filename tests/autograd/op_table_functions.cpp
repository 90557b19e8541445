// Rows for functions of one tensor: autograd/ops/math.h, activation.h and parts of arithmetic.h.
#include "tests/autograd/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Function = Tensor (*)(T);
using Method = T (Tensor::*)() const;

// torch.NAME(a), with its twin.
Op& function(Rows& rows, const std::string& name, Function f, Method twin,
             const Input& like = real({})) {
  return rows.op(name, "torch." + name + "(a)", f).on(unary_samples(like)).twin([twin](T a) {
    return (a.*twin)();
  });
}

Sample whole() {
  return {integers({2, 3}, -4, 5)};
}
Sample positive() {
  return {integers({2, 3}, 1, 9)};
}

// The rounding functions jump at whole and half numbers.
Input between_jumps() {
  return real({}).in(-3, 3).grid(0.1).off(
      {-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3});
}

void softmax_rows(Rows& rows) {
  for (const std::int64_t d : {0, 1, -1}) {
    const std::string dim = std::to_string(d);
    rows.op("softmax", "torch.softmax(a, " + dim + ")", [d](T a) { return softmax(a, d); })
        .on({{real({2, 3})}, {real({3, 2, 4})}, {real({0, 3})}, {real({3, 0})}})
        .refuses("[softmax] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
    rows.op("log_softmax", "torch.log_softmax(a, " + dim + ")",
            [d](T a) { return log_softmax(a, d); })
        .on({{real({2, 3})}, {real({3, 2, 4})}, {real({0, 3})}, {real({3, 0})}})
        .refuses("[log_softmax] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
  }
  rows.op("softmax", "torch.softmax(a, 0) * 1", [](T a) { return softmax(a, 0) * 1; })
      .on({{real({})}, {real({1})}, {real({7})}});
  rows.op("log_softmax", "torch.log_softmax(a, 0) * 1", [](T a) { return log_softmax(a, 0) * 1; })
      .on({{real({})}, {real({1})}, {real({7})}});
}

}  // namespace

std::vector<Op> function_rows() {
  Rows rows;
  function(rows, "neg", neg, &Tensor::neg_)
      .on({whole()})
      .refuses("[neg] a bool tensor has no negative; use logical_not", {bools({2})});
  function(rows, "abs", abs, &Tensor::abs_, real({}).off({0})).on({whole()});
  function(rows, "sign", sign, &Tensor::sign_, real({}).off({0})).on({whole(), {bools({3})}});
  function(rows, "square", square, &Tensor::square_).on({whole()});
  function(rows, "reciprocal", reciprocal, &Tensor::reciprocal_, real({}).grid(0.5, 0.25))
      .on({positive()});

  function(rows, "exp", exp, &Tensor::exp_).on({whole(), {bools({3})}});
  function(rows, "expm1", expm1, &Tensor::expm1_).on({whole()});
  function(rows, "log", log, &Tensor::log_, real({}).in(0.2, 3)).on({positive()});
  function(rows, "log1p", log1p, &Tensor::log1p_, real({}).in(-0.8, 3)).on({positive()});
  function(rows, "sqrt", sqrt, &Tensor::sqrt_, real({}).in(0.2, 3)).on({positive()});
  function(rows, "rsqrt", rsqrt, &Tensor::rsqrt_, real({}).in(0.2, 3)).on({positive()});
  function(rows, "sin", sin, &Tensor::sin_).on({whole()});
  function(rows, "cos", cos, &Tensor::cos_).on({whole()});
  // The slope reaches 14 at 1.3.
  function(rows, "tan", tan, &Tensor::tan_, real({}).in(-1.3, 1.3)).within(32).on({whole()});
  function(rows, "tanh", tanh, &Tensor::tanh_).on({whole()});
  function(rows, "sigmoid", sigmoid, &Tensor::sigmoid_).on({whole()});
  function(rows, "erf", erf, &Tensor::erf_).on({whole()});
  function(rows, "floor", floor, &Tensor::floor_, between_jumps()).on({whole()});
  function(rows, "ceil", ceil, &Tensor::ceil_, between_jumps()).on({whole()});
  function(rows, "round", round, &Tensor::round_, between_jumps()).on({whole()});
  function(rows, "trunc", trunc, &Tensor::trunc_, between_jumps()).on({whole()});

  function(rows, "relu", relu, &Tensor::relu_, real({}).off({0}))
      .on({whole()})
      .refuses("[relu] needs int64, float32 or float64, got bool", {bools({2})});
  rows.op("gelu", "F.gelu(a)", [](T a) { return gelu(a); })
      .on(unary_samples())
      .refuses("[gelu] needs float32 or float64, got int64", {integers({2}, 0, 5)});
  rows.op("gelu", "F.gelu(a, approximate='tanh')", [](T a) { return gelu(a, GeluKind::tanh); })
      .on(unary_samples());
  softmax_rows(rows);
  return rows.take();
}

}  // namespace tend::test
