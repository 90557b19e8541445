// Rows for autograd/ops/masking.h.
#include "tests/op_table/op_table.h"

#include <limits>

namespace tend::test {
namespace {

using T = const Tensor&;

// The three tensors of a clamp, on grids that have no element in common.
Input clamped(Shape shape) {
  return real(std::move(shape)).grid(0.1);
}
Input lower(Shape shape) {
  return real(std::move(shape)).in(-1.5, 0.5).grid(0.1, 0.03);
}
Input upper(Shape shape) {
  return real(std::move(shape)).in(-0.5, 1.5).grid(0.1, 0.07);
}

void bound_rows(Rows& rows) {
  const std::string apart = "(2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4";
  const Input whole = integers({3}, -4, 5);
  rows.op("clamp", "torch.clamp(a, b, c)", [](T a, T b, T c) { return clamp(a, b, c); })
      .on({{clamped({2, 3}), lower({2, 3}), upper({2, 3})},
           {clamped({3}), lower({2, 1}), upper({})},
           {clamped({}), lower({}), upper({})},
           {clamped({0, 3}), lower({3}), upper({0, 1})},
           {whole, whole, whole},
           {whole, lower({2, 3}), integers({}, -1, 2)}})
      .in_place([](T a, T b, T c) { return a.clamp_(b, c); })
      .refuses("[clamp] " + apart, {real({2, 3}), real({}), real({4})});
  rows.op("clamp", "torch.clamp(a, min=b)", [](T a, T b) { return clamp(a, b, {}); })
      .on(binary_samples(clamped({}), lower({})))
      .in_place([](T a, T b) { return a.clamp_(b, {}); });
  rows.op("clamp", "torch.clamp(a, max=b)", [](T a, T b) { return clamp(a, {}, b); })
      .on(binary_samples(clamped({}), upper({})))
      .in_place([](T a, T b) { return a.clamp_({}, b); });
  rows.op("clip", "torch.clip(a, b, c)", [](T a, T b, T c) { return clip(a, b, c); })
      .on({{clamped({2, 3}), lower({2, 3}), upper({2, 3})}})
      .in_place([](T a, T b, T c) { return a.clip_(b, c); });
  rows.op("clip", "torch.clip(a, -0.5, 1)", [](T a) { return clip(a, -0.5, 1); })
      .on({{real({2, 3}).off({-0.5, 1})}})
      .in_place([](T a) { return a.clip_(-0.5, 1); })
      .refuses("[clip] needs a lower or an upper bound", {real({2})},
               [](T a) { return clip(a, std::nullopt, std::nullopt); });
  rows.op("clamp_min", "torch.clamp_min(a, 0.5)", [](T a) { return clamp_min(a, 0.5); })
      .on(unary_samples(real({}).off({0.5})))
      .on({{whole}})
      .in_place([](T a) { return a.clamp_min_(0.5); });
  rows.op("clamp_min", "torch.clamp_min(a, b)", [](T a, T b) { return clamp_min(a, b); })
      .on(binary_samples(clamped({}), lower({})))
      .on({{whole, whole}})
      .in_place([](T a, T b) { return a.clamp_min_(b); })
      .refuses("[clamp_min] " + apart, {real({2, 3}), real({4})});
  rows.op("clamp_max", "torch.clamp_max(a, 0.5)", [](T a) { return clamp_max(a, 0.5); })
      .on(unary_samples(real({}).off({0.5})))
      .on({{whole}})
      .in_place([](T a) { return a.clamp_max_(0.5); });
  rows.op("clamp_max", "torch.clamp_max(a, b)", [](T a, T b) { return clamp_max(a, b); })
      .on(binary_samples(clamped({}), upper({})))
      .on({{whole, whole}})
      .in_place([](T a, T b) { return a.clamp_max_(b); })
      .refuses("[clamp_max] " + apart, {real({2, 3}), real({4})});
  rows.op("nan_to_num", "torch.nan_to_num(a)", [](T a) { return nan_to_num(a); })
      .on(unary_samples())
      .on({{whole}, {bools({3})}})
      .in_place([](T a) { return a.nan_to_num_(); });
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [text, hole] :
       {std::pair{"nan", std::nan("")}, {"inf", kInfinity}, {"-inf", -kInfinity}}) {
    const double value = hole;
    rows.op("nan_to_num",
            "torch.nan_to_num(a.masked_fill(b, float('" + std::string(text) + "')), 0.5, 1, -3)",
            [value](T a, T b) { return nan_to_num(masked_fill(a, b, value), 0.5, 1, -3); })
        .on({{real({2, 3}), bools({2, 3})}, {real({3}), bools({2, 1})}})
        .in_place([value](T a, T b) { return a.masked_fill_(b, value).nan_to_num_(0.5, 1, -3); });
  }
}

}  // namespace

std::vector<Op> masking_rows() {
  Rows rows;
  rows.op("where", "torch.where(a, b, c)", [](T a, T b, T c) { return where(a, b, c); })
      .on({{bools({2, 3}), real({2, 3}), real({2, 3})},
           {bools({2, 1}), real({3}), real({})},
           {bools({}), real({2}), real({3, 1})},
           {bools({0, 2}), real({2}), real({0, 1})},
           {bools({4}), integers({4}, 0, 9), real({4})}})
      .refuses("[where] the condition must be bool, not float64",
               {real({2}), real({2}), real({2})});
  rows.op("where", "torch.where(a)", [](T a) { return where(a); })
      .on({{bools({2, 3})}, {bools({})}, {integers({4}, -1, 2)}});
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
      .in_place([](T a, T b) { return a.masked_fill_(b, -2.5); })
      .refuses("[masked_fill] the mask must be bool, not int64", {real({2}), integers({2}, 0, 2)});
  rows.op("masked_fill", "torch.masked_fill(a, b, c)",
          [](T a, T b, T c) { return masked_fill(a, b, c); })
      .on({{real({2, 3}), bools({2, 3}), real({})}, {real({2, 3}), bools({3}), real({})}})
      .in_place([](T a, T b, T c) { return a.masked_fill_(b, c); });
  for (const std::int64_t d : {-1, 0, 1}) {
    const std::string diagonal = std::to_string(d);
    rows.op("tril", "torch.tril(a, " + diagonal + ")", [d](T a) { return tril(a, d); })
        .on({{real({3, 3})}, {real({2, 4})}, {real({2, 4, 3})}, {real({0, 3})}})
        .in_place([d](T a) { return a.tril_(d); })
        .refuses("[tril] needs at least 2 dimensions, got shape (3,)", {real({3})});
    rows.op("triu", "torch.triu(a, " + diagonal + ")", [d](T a) { return triu(a, d); })
        .on({{real({3, 3})}, {real({2, 4})}, {real({2, 4, 3})}, {real({0, 3})}})
        .in_place([d](T a) { return a.triu_(d); })
        .refuses("[triu] needs at least 2 dimensions, got shape (3,)", {real({3})});
  }
  rows.op("clamp", "torch.clamp(a, -0.5, 1)", [](T a) { return clamp(a, -0.5, 1); })
      .on(unary_samples(real({}).off({-0.5, 1})))
      .on({{integers({4}, -4, 5)}})
      .in_place([](T a) { return a.clamp_(-0.5, 1); });
  rows.op("clamp", "torch.clamp(a, min=0.5)", [](T a) { return clamp(a, 0.5); })
      .on(unary_samples(real({}).off({0.5})));
  rows.op("clamp", "torch.clamp(a, max=0.5)", [](T a) { return clamp(a, std::nullopt, 0.5); })
      .on(unary_samples(real({}).off({0.5})));
  bound_rows(rows);
  return rows.take();
}

}  // namespace tend::test
