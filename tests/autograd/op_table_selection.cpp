// Rows for autograd/ops/select.h.
#include "tests/autograd/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

}  // namespace

std::vector<Op> selection_rows() {
  Rows rows;
  rows.op("where", "torch.where(a, b, c)", [](T a, T b, T c) { return where(a, b, c); })
      .on({{bools({2, 3}), real({2, 3}), real({2, 3})},
           {bools({2, 1}), real({3}), real({})},
           {bools({}), real({2}), real({3, 1})},
           {bools({0, 2}), real({2}), real({0, 1})},
           {bools({4}), integers({4}, 0, 9), real({4})}})
      .refuses("[where] the condition must be bool, not float64",
               {real({2}), real({2}), real({2})});
  rows.op("where", "torch.where(a, b, -1.5)", [](T a, T b) { return where(a, b, -1.5); })
      .on({{bools({2, 3}), real({2, 3})}, {bools({2, 1}), real({3})}, {bools({3}), real({})}});
  rows.op("where", "torch.where(a, -1.5, b)", [](T a, T b) { return where(a, -1.5, b); })
      .on({{bools({2, 3}), real({2, 3})}, {bools({2, 1}), real({3})}, {bools({3}), real({})}});
  rows.op("masked_fill", "torch.masked_fill(a, b, -2.5)",
          [](T a, T b) { return masked_fill(a, b, -2.5); })
      .on({{real({2, 3}), bools({2, 3})},
           {real({2, 3}), bools({3})},
           {real({3}), bools({2, 1})},
           {real({}), bools({})},
           {real({0, 3}), bools({3})}})
      .twin([](T a, T b) { return a.masked_fill_(b, -2.5); })
      .refuses("[masked_fill] the mask must be bool, not int64", {real({2}), integers({2}, 0, 2)});
  rows.op("masked_fill", "torch.masked_fill(a, b, c)",
          [](T a, T b, T c) { return masked_fill(a, b, c); })
      .on({{real({2, 3}), bools({2, 3}), real({})}, {real({2, 3}), bools({3}), real({})}})
      .twin([](T a, T b, T c) { return a.masked_fill_(b, c); });
  for (const std::int64_t d : {-1, 0, 1}) {
    const std::string diagonal = std::to_string(d);
    rows.op("tril", "torch.tril(a, " + diagonal + ")", [d](T a) { return tril(a, d); })
        .on({{real({3, 3})}, {real({2, 4})}, {real({2, 4, 3})}, {real({0, 3})}})
        .twin([d](T a) { return a.tril_(d); })
        .refuses("[tril] needs at least 2 dimensions, got shape (3,)", {real({3})});
    rows.op("triu", "torch.triu(a, " + diagonal + ")", [d](T a) { return triu(a, d); })
        .on({{real({3, 3})}, {real({2, 4})}, {real({2, 4, 3})}, {real({0, 3})}})
        .twin([d](T a) { return a.triu_(d); })
        .refuses("[triu] needs at least 2 dimensions, got shape (3,)", {real({3})});
  }
  rows.op("clamp", "torch.clamp(a, -0.5, 1)", [](T a) { return clamp(a, -0.5, 1); })
      .on(unary_samples(real({}).off({-0.5, 1})))
      .on({{integers({4}, -4, 5)}})
      .twin([](T a) { return a.clamp_(-0.5, 1); });
  rows.op("clamp", "torch.clamp(a, min=0.5)", [](T a) { return clamp(a, 0.5); })
      .on(unary_samples(real({}).off({0.5})));
  rows.op("clamp", "torch.clamp(a, max=0.5)", [](T a) { return clamp(a, std::nullopt, 0.5); })
      .on(unary_samples(real({}).off({0.5})));
  return rows.take();
}

}  // namespace tend::test
