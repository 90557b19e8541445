// Rows for autograd/ops/math.h, and for the functions of one tensor in arithmetic.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using Function = Tensor (*)(T);
using Method = T (Tensor::*)() const;

// A row for torch.NAME(a), with its in-place form.
Op& function(Rows& rows, const std::string& name, Function f, Method method,
             const Input& like = real({})) {
  return rows.op(name, "torch." + name + "(a)", f).on(unary_samples(like)).in_place([method](T a) {
    return (a.*method)();
  });
}

Sample whole() {
  return {integers({2, 3}, -4, 5)};
}
Sample positive_whole() {
  return {integers({2, 3}, 1, 9)};
}

// The rounding functions jump at whole and half numbers.
Input between_jumps() {
  return real({}).in(-3, 3).grid(0.1).off(
      {-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3});
}

// Functions of two variables.
void binary_rows(Rows& rows) {
  const Sample integer = {integers({2, 3}, 1, 5), integers({3}, 1, 5)};
  const Input off_axes = real({}).grid(0.5, 0.25);  // so the origin is excluded, too
  rows.op("atan2", "torch.atan2(a, b)", [](T a, T b) { return atan2(a, b); })
      .on(binary_samples(off_axes, off_axes))
      .on({integer, {integers({2, 3}, -4, 5), real({3}).grid(0.5, 0.25)}, {bools({3}), bools({3})}})
      .in_place([](T a, T b) { return a.atan2_(b); })
      .refuses("[atan2] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("logaddexp", "torch.logaddexp(a, b)", [](T a, T b) { return logaddexp(a, b); })
      .on(binary_samples())
      .on({{integers({2, 3}, -4, 5), real({3})}})
      .refuses("[logaddexp] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})})
      .refuses("[logaddexp] needs float32 or float64, got int64", integer);
  rows.op("xlogy", "torch.xlogy(a, b)", [](T a, T b) { return xlogy(a, b); })
      .on(binary_samples(real({}), real({}).in(0.2, 3)))
      .on({integer,
           {integers({2, 3}, -4, 5), real({3}).in(0.2, 3)},
           {real({3}), integers({3}, 1, 5)}})
      .in_place([](T a, T b) { return a.xlogy_(b); })
      .refuses("[xlogy] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("xlogy", "torch.xlogy(a, 2.5)", [](T a) { return xlogy(a, 2.5); })
      .on(unary_samples())
      .on({{integers({3}, -4, 5)}})
      .in_place([](T a) { return a.xlogy_(2.5); });
  rows.op("xlogy", "torch.xlogy(1.5, a)", [](T a) { return xlogy(1.5, a); })
      .on(unary_samples(real({}).in(0.2, 3)))
      .on({{integers({3}, 1, 5)}});
}

}  // namespace

std::vector<Op> math_rows() {
  Rows rows;
  rows.op("positive", "torch.positive(a)", [](T a) { return +a; })
      .on(unary_samples())
      .on({whole()})
      .refuses("[positive] a bool tensor has no sign", {bools({2})});
  function(rows, "neg", neg, &Tensor::neg_)
      .on({whole()})
      .refuses("[neg] a bool tensor has no negative; use logical_not", {bools({2})});
  function(rows, "abs", abs, &Tensor::abs_, real({}).off({0}))
      .on({whole()})
      .refuses("[abs] needs int64, float32 or float64, got bool", {bools({2})});
  function(rows, "sign", sign, &Tensor::sign_, real({}).off({0})).on({whole(), {bools({3})}});
  function(rows, "square", square, &Tensor::square_).on({whole()});
  function(rows, "reciprocal", reciprocal, &Tensor::reciprocal_, real({}).grid(0.5, 0.25))
      .on({positive_whole()});

  function(rows, "exp", exp, &Tensor::exp_).on({whole(), {bools({3})}});
  function(rows, "exp2", exp2, &Tensor::exp2_).on({whole()});
  function(rows, "expm1", expm1, &Tensor::expm1_).on({whole()});
  rows.op("exp2m1", "torch.exp2(a) - 1", exp2m1)
      .on(unary_samples())
      .on({whole()})
      .in_place([](T a) { return a.exp2m1_(); });
  function(rows, "log", log, &Tensor::log_, real({}).in(0.2, 3)).on({positive_whole()});
  function(rows, "log2", log2, &Tensor::log2_, real({}).in(0.2, 3)).on({positive_whole()});
  function(rows, "log10", log10, &Tensor::log10_, real({}).in(0.2, 3)).on({positive_whole()});
  function(rows, "log1p", log1p, &Tensor::log1p_, real({}).in(-0.8, 3)).on({positive_whole()});
  rows.op("entr", "torch.special.entr(a)", entr)
      .on(unary_samples(real({}).in(0.2, 3)))
      .on({positive_whole()})
      .in_place([](T a) { return a.entr_(); });
  function(rows, "sqrt", sqrt, &Tensor::sqrt_, real({}).in(0.2, 3)).on({positive_whole()});
  function(rows, "rsqrt", rsqrt, &Tensor::rsqrt_, real({}).in(0.2, 3)).on({positive_whole()});
  function(rows, "sin", sin, &Tensor::sin_).on({whole()});
  function(rows, "cos", cos, &Tensor::cos_).on({whole()});
  // The derivative reaches 14 at 1.3, which multiplies rounding errors.
  function(rows, "tan", tan, &Tensor::tan_, real({}).in(-1.3, 1.3)).within(32).on({whole()});
  function(rows, "asin", asin, &Tensor::asin_, real({}).in(-0.9, 0.9)).on({{bools({3})}});
  function(rows, "acos", acos, &Tensor::acos_, real({}).in(-0.9, 0.9)).on({{bools({3})}});
  function(rows, "atan", atan, &Tensor::atan_).on({whole()});
  function(rows, "sinh", sinh, &Tensor::sinh_).on({whole()});
  function(rows, "cosh", cosh, &Tensor::cosh_).on({whole()});
  function(rows, "tanh", tanh, &Tensor::tanh_).on({whole()});
  function(rows, "sigmoid", sigmoid, &Tensor::sigmoid_).on({whole()});
  function(rows, "erf", erf, &Tensor::erf_).on({whole()});
  function(rows, "erfc", erfc, &Tensor::erfc_).on({whole()});
  // Near the poles, a small change of the argument makes a large change of the result.
  const Sample between_poles = {real({2, 3}).in(-2.8, -0.2).off({-2, -1})};
  function(rows, "lgamma", lgamma, &Tensor::lgamma_, real({}).in(0.2, 4))
      .on({positive_whole(), between_poles})
      .within(64);
  // PyTorch's polygamma(1, a) is accurate only to 1e-9. So its values, and gradients that use it,
  // are not compared. zeta(2, a) is the same function.
  rows.op("digamma", "torch.digamma(a.detach())", digamma)
      .on(unary_samples(real({}).in(0.2, 4)))
      .on({positive_whole(), between_poles})
      .in_place([](T a) { return a.digamma_(); })
      .within(64);
  const std::string expressions[] = {
      "torch.polygamma(0, a.detach())",
      "torch.special.zeta(torch.tensor(2.0, dtype=torch.float64), a.detach())",
      "torch.polygamma(2, a)", "torch.polygamma(3, a)"};
  for (std::int64_t n = 0; const std::string& expression : expressions) {
    rows.op("polygamma", expression, [n](T a) { return polygamma(n, a); })
        .on(unary_samples(real({}).in(0.5, 4)))
        .in_place([n](T a) { return a.polygamma_(n); })
        .refuses("[polygamma] the order is -1, which must be at least 0", {real({2})},
                 [](T a) { return polygamma(-1, a); });
    ++n;
  }
  rows.op("polygamma", "torch.polygamma(4, a)", [](T a) { return polygamma(4, a); })
      .on({positive_whole()});
  function(rows, "erfinv", erfinv, &Tensor::erfinv_, real({}).in(-0.9, 0.9));
  rows.op("logit", "torch.logit(a)", [](T a) { return logit(a); })
      .on(unary_samples(real({}).in(0.1, 0.9)))
      .in_place([](T a) { return a.logit_(); });
  rows.op("logit", "torch.logit(a, 0.2)", [](T a) { return logit(a, 0.2); })
      .on(unary_samples(real({}).in(0.05, 0.95).off({0.2, 0.8})))
      .on({{bools({3})}})
      .in_place([](T a) { return a.logit_(0.2); });
  function(rows, "floor", floor, &Tensor::floor_, between_jumps())
      .on({whole()})
      .refuses("[floor] a bool tensor cannot be rounded", {bools({2})});
  function(rows, "ceil", ceil, &Tensor::ceil_, between_jumps())
      .on({whole()})
      .refuses("[ceil] a bool tensor cannot be rounded", {bools({2})});
  function(rows, "round", round, &Tensor::round_, between_jumps())
      .on({whole()})
      .refuses("[round] a bool tensor cannot be rounded", {bools({2})});
  // The elements are 0.003 above a hundredth, so none is midway between two tenths, where the
  // result jumps.
  const Input hundredths = real({2, 3}).off({-1.95, -0.05, 0.05, 1.95}).grid(0.01, 0.003);
  rows.op("round", "torch.round(a, decimals=1)", [](T a) { return round(a, 1); })
      .on({{hundredths}})
      .in_place([](T a) { return a.round_(1); })
      .refuses("[round] needs float32 or float64, got int64", {integers({2}, 0, 9)});
  rows.op("round", "torch.round(a, decimals=-1)", [](T a) { return round(a, -1); })
      .on({{real({2, 3}).in(-99, 99).grid(1, 0.3)}});
  function(rows, "trunc", trunc, &Tensor::trunc_, between_jumps())
      .on({whole()})
      .refuses("[trunc] a bool tensor cannot be rounded", {bools({2})});
  binary_rows(rows);
  return rows.take();
}

}  // namespace tend::test
