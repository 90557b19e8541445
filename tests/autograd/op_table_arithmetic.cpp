// Rows for autograd/ops/arithmetic.h.
#include "tests/autograd/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

// Away from zero, and from where the quotient of two of them is whole.
Input divisor() {
  return real({}).grid(0.5, 0.25);
}

std::vector<Sample> mixed_dtypes() {
  return {{integers({2, 3}, -4, 5), integers({3}, -4, 5)},
          {integers({2, 3}, -4, 5), real({3})},
          {real({2, 3}).as(float32), real({}).constant()}};
}

}  // namespace

std::vector<Op> arithmetic_rows() {
  Rows rows;
  rows.op("add", "torch.add(a, b)", [](T a, T b) { return add(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .on({{bools({4}), bools({4})}, {bools({2, 3}), real({2, 1})}})
      .twin([](T a, T b) { return a.add_(b); })
      .refuses("[add] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("add", "torch.add(a, b, alpha=-1.5)", [](T a, T b) { return add(a, b, -1.5); })
      .on(binary_samples())
      .twin([](T a, T b) { return a.add_(b, -1.5); })
      .refuses("[add] a floating alpha with int64 tensors",
               {integers({2}, 0, 5), integers({2}, 0, 5)});
  rows.op("add", "torch.add(a, 1.5)", [](T a) { return add(a, 1.5); })
      .on(unary_samples())
      .on({{integers({3}, -4, 5)}})
      .twin([](T a) { return a.add_(1.5); });
  rows.op("sub", "torch.sub(a, b)", [](T a, T b) { return sub(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .twin([](T a, T b) { return a.sub_(b); })
      .refuses("[sub] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})})
      .refuses("[sub] a bool tensor has no difference; use logical_xor or logical_not",
               {bools({2}), real({2})});
  rows.op("sub", "torch.sub(a, b, alpha=2)", [](T a, T b) { return sub(a, b, 2); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .twin([](T a, T b) { return a.sub_(b, 2); });
  rows.op("sub", "0.5 - a", [](T a) { return 0.5 - a; }).on(unary_samples());
  rows.op("mul", "torch.mul(a, b)", [](T a, T b) { return mul(a, b); })
      .on(binary_samples())
      .on(mixed_dtypes())
      .on({{bools({4}), bools({4})}, {bools({2, 3}), real({2, 1})}})
      .twin([](T a, T b) { return a.mul_(b); })
      .refuses("[mul] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("mul", "torch.mul(a, -1.5)", [](T a) { return mul(a, -1.5); })
      .on(unary_samples())
      .twin([](T a) { return a.mul_(-1.5); });
  rows.op("mul", "a * a", [](T a) { return a * a; }).on(unary_samples());
  rows.op("div", "torch.div(a, b)", [](T a, T b) { return div(a, b); })
      .on(binary_samples(real({}), divisor()))
      .on({{integers({2, 3}, -4, 5), integers({3}, 1, 5)}, {bools({3}), divisor().as(float32)}})
      .twin([](T a, T b) { return a.div_(b); })
      .refuses("[div] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  rows.op("div", "1.5 / a", [](T a) { return 1.5 / a; }).on(unary_samples(divisor()));
  rows.op("div", "a / 1.5", [](T a) { return a / 1.5; }).on(unary_samples()).twin([](T a) {
    return a.div_(1.5);
  });
  // Differences of grid(0.1, 0.05) from whole multiples of the divisors stay 0.05.
  rows.op("floor_divide", "torch.floor_divide(a, b)", [](T a, T b) { return floor_divide(a, b); })
      .on(binary_samples(real({}).grid(0.1, 0.05), real({}).grid(0.5, 0).off({0})))
      .on({{integers({2, 4}, -9, 10), integers({2, 1}, 1, 5)}})
      .twin([](T a, T b) { return a.floor_divide_(b); })
      .refuses("[floor_divide] integer division by zero: the divisor of shape (2,) holds a 0",
               {integers({2}, 1, 3), integers({2}, 0, 1)});
  rows.op("remainder", "torch.remainder(a, b)", [](T a, T b) { return remainder(a, b); })
      .on(binary_samples(real({}).grid(0.1, 0.05), real({}).grid(0.5, 0).off({0})))
      .on({{integers({2, 4}, -9, 10), integers({2, 1}, 1, 5)}})
      .twin([](T a, T b) { return a.remainder_(b); })
      .refuses("[remainder] integer division by zero: the divisor of shape (2,) holds a 0",
               {integers({2}, 1, 3), integers({2}, 0, 1)});
  rows.op("pow", "torch.pow(a, b)", [](T a, T b) { return pow(a, b); })
      .on(binary_samples(real({}).in(0.3, 2), real({})))
      .on({{integers({2, 3}, -4, 5), integers({3}, 0, 4)}, {real({4}), integers({4}, -2, 4)}})
      .twin([](T a, T b) { return a.pow_(b); })
      .refuses("[pow] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
               {real({2, 3}), real({4})});
  for (const auto& [text, exponent] :
       {std::pair{"2.5", 2.5}, {"3", 3.0}, {"-1", -1.0}, {"0.5", 0.5}, {"1", 1.0}, {"0", 0.0}}) {
    const double e = exponent;
    rows.op("pow", "torch.pow(a, " + std::string(text) + ")", [e](T a) { return pow(a, e); })
        .on(unary_samples(real({}).in(0.3, 2)))
        .twin([e](T a) { return a.pow_(e); });
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
