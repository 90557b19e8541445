// Rows for autograd/ops/arithmetic.h.
#include "tests/op_table/op_table.h"

#include <array>

namespace tend::test {
namespace {

using T = const Tensor&;

// Odd multiples of 0.25, so never zero.
Input divisor() {
  return real({}).grid(0.5, 0.25);
}

std::vector<Sample> mixed_dtypes() {
  return {{integers({2, 3}, -4, 5), integers({3}, -4, 5)},
          {integers({2, 3}, -4, 5), real({3})},
          {real({2, 3}).as(float32), real({}).constant()}};
}

// For functions of three tensors that broadcast; the third one is like `last`.
std::vector<Sample> ternary_samples(const Input& last) {
  const std::array<Shape, 3> shapes[] = {{Shape{2, 3}, Shape{2, 3}, Shape{2, 3}},
                                         {Shape{2, 1}, Shape{3}, Shape{}},
                                         {Shape{3}, Shape{2, 1, 3}, Shape{2, 1}},
                                         {Shape{}, Shape{}, Shape{}},
                                         {Shape{0, 3}, Shape{3}, Shape{0, 1}}};
  std::vector<Sample> samples;
  for (const auto& [a, b, c] : shapes) {
    Input third = last;
    third.shape = c;
    samples.push_back({real(a), real(b), third});
  }
  return samples;
}

void ternary_rows(Rows& rows) {
  const Input whole = integers({3}, -4, 5);
  rows.op("addcmul", "torch.addcmul(a, b, c)", [](T a, T b, T c) { return addcmul(a, b, c); })
      .on(ternary_samples(real({})))
      .on({{whole, whole, whole},
           {whole, real({2, 3}), whole},
           {real({3}).as(float32), whole, real({}).constant()}})
      .in_place([](T a, T b, T c) { return a.addcmul_(b, c); })
      .refuses("[addcmul] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({}), real({2, 3}), real({4})})
      .refuses("[addcmul] bool tensors have no sum; use logical_or",
               {bools({2}), bools({2}), bools({2})});
  rows.op("addcmul", "torch.addcmul(a, b, c, value=-1.5)",
          [](T a, T b, T c) { return addcmul(a, b, c, -1.5); })
      .on(ternary_samples(real({})))
      .in_place([](T a, T b, T c) { return a.addcmul_(b, c, -1.5); })
      .refuses("[addcmul] value must not be floating for int64 tensors", {whole, whole, whole});
  rows.op("addcdiv", "torch.addcdiv(a, b, c)", [](T a, T b, T c) { return addcdiv(a, b, c); })
      .on(ternary_samples(divisor()))
      .on({{whole, whole, real({2, 3}).grid(0.5, 0.25)}, {whole, real({3}), integers({3}, 1, 5)}})
      .in_place([](T a, T b, T c) { return a.addcdiv_(b, c); })
      .refuses("[addcdiv] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4}), real({})})
      .refuses(
          "[addcdiv] integer division: tensor1 is int64, tensor2 bool; one of them must be "
          "floating",
          {real({2}), integers({2}, 0, 5), bools({2})});
  rows.op("addcdiv", "torch.addcdiv(a, b, c, value=-1.5)",
          [](T a, T b, T c) { return addcdiv(a, b, c, -1.5); })
      .on(ternary_samples(divisor()))
      .in_place([](T a, T b, T c) { return a.addcdiv_(b, c, -1.5); });
  rows.op("lerp", "torch.lerp(a, b, c)", [](T a, T b, T c) { return lerp(a, b, c); })
      .on(ternary_samples(real({})))
      .in_place([](T a, T b, T c) { return a.lerp_(b, c); })
      .refuses("[lerp] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({}), real({4})})
      .refuses("[lerp] the dtypes differ: self is float64, end float32, weight float64",
               {real({2}), real({2}).as(float32), real({2})})
      .refuses("[lerp] needs float32 or float64, got int64", {whole, whole, whole});
  for (const auto& [text, weight] : {std::pair{"0.3", 0.3}, {"0.5", 0.5}, {"-1.5", -1.5}}) {
    const double w = weight;
    rows.op("lerp", "torch.lerp(a, b, " + std::string(text) + ")",
            [w](T a, T b) { return lerp(a, b, w); })
        .on(binary_samples())
        .in_place([w](T a, T b) { return a.lerp_(b, w); });
  }
}

// Dividends on grid(0.1, 0.05) are at least 0.05 away from whole multiples of the divisors, where
// the quotient jumps.
void quotient_rows(Rows& rows) {
  using Function = Tensor (*)(T, T);
  using NumberFunction = Tensor (*)(T, const Scalar&);
  struct Quotient {
    std::string name;
    Function f;
    NumberFunction by_number;
    T (Tensor::*method)(T) const;
    T (Tensor::*in_place_by_number)(const Scalar&) const;
  };
  const std::vector<Quotient> quotients = {
      {"floor_divide", floor_divide, floor_divide, &Tensor::floor_divide_, &Tensor::floor_divide_},
      {"remainder", remainder, remainder, &Tensor::remainder_, &Tensor::remainder_},
      {"fmod", fmod, fmod, &Tensor::fmod_, &Tensor::fmod_}};
  const Input dividend = real({}).grid(0.1, 0.05);
  for (const Quotient& q : quotients) {
    rows.op(q.name, "torch." + q.name + "(a, b)", q.f)
        .on(binary_samples(dividend, real({}).grid(0.5, 0).off({0})))
        .on({{integers({2, 4}, -9, 10), integers({2, 1}, 1, 5)},
             {integers({2, 4}, -9, 10), integers({4}, -5, 0)}})
        .in_place([method = q.method](T a, T b) { return (a.*method)(b); })
        .refuses("[" + q.name + "] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
                 {real({2, 3}), real({4})})
        .refuses("[" + q.name + "] needs int64, float32 or float64, got bool",
                 {bools({2}), bools({2})})
        .refuses("[" + q.name + "] integer division by zero: the divisor of shape (2,) holds a 0",
                 {integers({2}, 1, 3), integers({2}, 0, 1)});
    rows.op(q.name, "torch." + q.name + "(a, -1.5)", [f = q.by_number](T a) { return f(a, -1.5); })
        .on(unary_samples(dividend))
        .on({{integers({3}, -4, 5)}})
        .in_place([method = q.in_place_by_number](T a) { return (a.*method)(-1.5); });
  }
  const Sample whole = {integers({2, 4}, -9, 10), integers({4}, -5, 0)};
  rows.op("remainder", "a % b", [](T a, T b) { return a % b; }).on({whole});
  rows.op("remainder", "a % 3", [](T a) { return a % 3; })
      .on({{integers({3}, -4, 5)}, {dividend}})
      .in_place([](T a) { return a %= 3; });
  rows.op("remainder", "7 % a", [](T a) { return 7 % a; }).on({{integers({3}, 1, 5)}});
  rows.op("remainder", "torch.remainder(7, a)", [](T a) { return remainder(7, a); })
      .on({{integers({3}, 1, 5)}, {real({2, 3}).in(2.1, 2.3)}});
  rows.op("fmod", "torch.fmod(torch.tensor(7), a)", [](T a) { return fmod(7, a); })
      .on({{integers({3}, 1, 5)}, {real({2, 3}).in(2.1, 2.3)}});
  rows.op("floor_divide", "7 // a", [](T a) { return floor_divide(7, a); })
      .on({{integers({3}, 1, 5)}, {real({2, 3}).grid(0.5, 0.4).constant()}});
  rows.op("div", "torch.div(a, b, rounding_mode='trunc')",
          [](T a, T b) { return div(a, b, RoundingMode::trunc); })
      .on(binary_samples(dividend, real({}).grid(0.5, 0).off({0})))
      .on({whole})
      .refuses("[div] needs int64, float32 or float64, got bool", {bools({2}), bools({2})})
      .refuses("[div] integer division by zero: the divisor of shape (2,) holds a 0",
               {integers({2}, 1, 3), integers({2}, 0, 1)});
  rows.op("div", "torch.div(a, b, rounding_mode='floor')",
          [](T a, T b) { return div(a, b, RoundingMode::floor); })
      .on({{dividend, real({}).grid(0.5, 0).off({0})}, whole})
      .in_place([](T a, T b) { return a.div_(b, RoundingMode::floor); });
  rows.op("div", "torch.div(a, -1.5, rounding_mode='trunc')",
          [](T a) { return div(a, -1.5, RoundingMode::trunc); })
      .on({{dividend}, {integers({3}, -4, 5)}});
  rows.op("div", "torch.div(a, 2, rounding_mode='trunc')",
          [](T a) { return div(a, 2, RoundingMode::trunc); })
      .on({{dividend}, {integers({3}, -4, 5)}})
      .in_place([](T a) { return a.div_(2, RoundingMode::trunc); });
}

// The same operations under their long names.
void long_name_rows(Rows& rows) {
  rows.op("subtract", "torch.subtract(a, b, alpha=2)", [](T a, T b) { return subtract(a, b, 2); })
      .on(binary_samples())
      .in_place([](T a, T b) { return a.subtract_(b, 2); })
      .refuses("[subtract] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("subtract", "torch.subtract(a, 1.5)", [](T a) { return subtract(a, 1.5); })
      .on(unary_samples())
      .in_place([](T a) { return a.subtract_(1.5); });
  rows.op("multiply", "torch.multiply(a, b)", [](T a, T b) { return multiply(a, b); })
      .on(binary_samples())
      .in_place([](T a, T b) { return a.multiply_(b); })
      .refuses("[multiply] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("multiply", "torch.multiply(a, -1.5)", [](T a) { return multiply(a, -1.5); })
      .on(unary_samples())
      .in_place([](T a) { return a.multiply_(-1.5); });
  rows.op("true_divide", "torch.true_divide(a, b)", [](T a, T b) { return true_divide(a, b); })
      .on(binary_samples(real({}), divisor()))
      .in_place([](T a, T b) { return a.true_divide_(b); })
      .on({{integers({2, 3}, -4, 5), integers({3}, 1, 5)}})
      .refuses("[true_divide] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("true_divide", "torch.true_divide(a, 1.5)", [](T a) { return true_divide(a, 1.5); })
      .on(unary_samples())
      .in_place([](T a) { return a.true_divide_(1.5); });
}

}  // namespace

std::vector<Op> arithmetic_rows() {
  Rows rows;
  rows.op("add", "torch.add(a, b)", [](T a, T b) { return add(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .on({{bools({4}), bools({4})}, {bools({2, 3}), real({2, 1})}})
      .in_place([](T a, T b) { return a.add_(b); })
      .refuses("[add] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("add", "torch.add(a, b, alpha=-1.5)", [](T a, T b) { return add(a, b, -1.5); })
      .on(binary_samples())
      .in_place([](T a, T b) { return a.add_(b, -1.5); })
      .refuses("[add] alpha must not be floating for int64 tensors",
               {integers({2}, 0, 5), integers({2}, 0, 5)});
  rows.op("add", "torch.add(a, 1.5)", [](T a) { return add(a, 1.5); })
      .on(unary_samples())
      .on({{integers({3}, -4, 5)}})
      .in_place([](T a) { return a.add_(1.5); });
  rows.op("sub", "torch.sub(a, b)", [](T a, T b) { return sub(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .in_place([](T a, T b) { return a.sub_(b); })
      .refuses("[sub] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})})
      .refuses("[sub] a bool tensor has no difference; use logical_xor or logical_not",
               {bools({2}), real({2})});
  rows.op("sub", "torch.sub(a, b, alpha=2)", [](T a, T b) { return sub(a, b, 2); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .in_place([](T a, T b) { return a.sub_(b, 2); });
  rows.op("rsub", "0.5 - a", [](T a) { return 0.5 - a; })
      .on(unary_samples())
      .on({{integers({3}, -4, 5)}})
      .refuses("[rsub] a bool tensor has no difference; use logical_xor or logical_not",
               {bools({2})});
  rows.op("rsub", "torch.rsub(a, b, alpha=2)", [](T a, T b) { return rsub(a, b, 2); })
      .on(binary_samples())
      .on(mixed_dtypes());
  rows.op("mul", "torch.mul(a, b)", [](T a, T b) { return mul(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .on({{bools({4}), bools({4})}, {bools({2, 3}), real({2, 1})}})
      .in_place([](T a, T b) { return a.mul_(b); })
      .refuses("[mul] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("mul", "torch.mul(a, -1.5)", [](T a) { return mul(a, -1.5); })
      .on(unary_samples())
      .in_place([](T a) { return a.mul_(-1.5); });
  rows.op("mul", "a * a", [](T a) { return a * a; }).on(unary_samples());
  rows.op("div", "torch.div(a, b)", [](T a, T b) { return div(a, b); })
      .on(binary_samples(real({}), divisor()))
      .on({{integers({2, 3}, -4, 5), integers({3}, 1, 5)}, {bools({3}), divisor().as(float32)}})
      .in_place([](T a, T b) { return a.div_(b); })
      .refuses("[div] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("reciprocal", "1.5 / a", [](T a) { return 1.5 / a; }).on(unary_samples(divisor()));
  rows.op("div", "a / 1.5", [](T a) { return a / 1.5; }).on(unary_samples()).in_place([](T a) {
    return a.div_(1.5);
  });
  long_name_rows(rows);
  quotient_rows(rows);
  ternary_rows(rows);
  rows.op("pow", "torch.pow(a, b)", [](T a, T b) { return pow(a, b); })
      .on(binary_samples(real({}).in(0.3, 2), real({})))
      .on({{integers({2, 3}, -4, 5), integers({3}, 0, 4)}, {real({4}), integers({4}, -2, 4)}})
      .in_place([](T a, T b) { return a.pow_(b); })
      .refuses("[pow] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  for (const auto& [text, exponent] :
       {std::pair{"2.5", 2.5}, {"3", 3.0}, {"-1", -1.0}, {"0.5", 0.5}, {"1", 1.0}, {"0", 0.0}}) {
    const double e = exponent;
    rows.op("pow", "torch.pow(a, " + std::string(text) + ")", [e](T a) { return pow(a, e); })
        .on(unary_samples(real({}).in(0.3, 2)))
        .in_place([e](T a) { return a.pow_(e); });
  }
  rows.op("pow", "torch.pow(1.5, a)", [](T a) { return pow(1.5, a); }).on(unary_samples());
  rows.op("maximum", "torch.maximum(a, b)", [](T a, T b) { return maximum(a, b); })
      .on(binary_samples(real({}).grid(0.1), real({}).grid(0.1, 0.05)))
      .on({{integers({2, 4}, -3, 4), integers({4}, -3, 4)}, {bools({4}), bools({4})}})
      .refuses("[maximum] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("minimum", "torch.minimum(a, b)", [](T a, T b) { return minimum(a, b); })
      .on(binary_samples(real({}).grid(0.1), real({}).grid(0.1, 0.05)))
      .on({{integers({2, 4}, -3, 4), integers({4}, -3, 4)}, {bools({4}), bools({4})}})
      .refuses("[minimum] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  return rows.take();
}

}  // namespace tend::test
