// Rows for autograd/ops/reduce.h.
#include "tests/op_table/op_table.h"

#include <cmath>

namespace tend::test {
namespace {

using T = const Tensor&;

// Rows for a reduction over all dimensions, over some, and over one with keepdim.
template <class F>
void reduction(Rows& rows, const std::string& name, F f, const std::vector<Sample>& samples) {
  const std::string call = "torch." + name + "(a";
  rows.op(name, call + ")", [f](T a) { return f(a, Shape{}, false); }).on(samples).on({{real({})}});
  rows.op(name, call + ", (0, -1))",
          [f](T a) {
            return f(a, Shape{0, -1}, false);
          })
      .on(samples)
      .refuses("[" + name + "] dimension 0 appears more than once in (0, -1)", {real({3})});
  rows.op(name, call + ", 1, keepdim=True)", [f](T a) { return f(a, Shape{1}, true); })
      .on(samples)
      .refuses("[" + name + "] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
}

void prod_rows(Rows& rows) {
  // On a grid of width 1, some elements are 0.
  const std::vector<Sample> samples = {
      {real({2, 3})}, {real({2, 3}).grid(1)},    {real({3, 2, 4})}, {real({3, 2, 4}).grid(1)},
      {real({0, 3})}, {integers({2, 3}, -4, 5)}, {bools({2, 3})}};
  rows.op("prod", "torch.prod(a)", [](T a) { return prod(a); }).on(samples).on({{real({})}});
  rows.op("prod", "torch.prod(a, 1)", [](T a) { return prod(a, 1); })
      .on(samples)
      .refuses("[prod] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("prod", "a.movedim(0, -2).flatten(-2).prod(-1)",
          [](T a) {
            return prod(a, {0, -1});
          })
      .on({{real({3, 2, 4})}, {real({2, 2, 3}).grid(1)}});
}

void deviation_rows(Rows& rows) {
  // Distinct elements, since std has no derivative where all elements are equal.
  const std::vector<Sample> samples = {{real({2, 3}).apart()}, {real({3, 2, 4}).apart()}};
  for (const bool root : {false, true}) {
    const std::string name = root ? "std" : "var";
    const auto f = [root](T a, const Dims& dims, double correction, bool keepdim) {
      return root ? std(a, dims, correction, keepdim) : var(a, dims, correction, keepdim);
    };
    rows.op(name, "torch." + name + "(a)", [f](T a) { return f(a, {}, 1, false); })
        .on(samples)
        .refuses("[" + name + "] needs float32 or float64, got int64", {integers({3}, 0, 9)});
    rows.op(name, "torch." + name + "(a, unbiased=False)",
            [root](T a) { return root ? std(a, false) : var(a, false); })
        .on({{real({2, 3})}});
    rows.op(name, "torch." + name + "(a, (0, -1), correction=0)",
            [f](T a) {
              return f(a, {0, -1}, 0, false);
            })
        .on(samples);
    rows.op(name, "torch." + name + "(a, 1, correction=0.5, keepdim=True)",
            [f](T a) { return f(a, 1, 0.5, true); })
        .on(samples);
  }
}

struct Extreme {
  std::string name;  // max or min
  Tensor (*full)(T);
  ValuesAndIndices (*along)(T, Integer, Flag);
  Tensor (*shared)(T, const Dims&, Flag);
  Tensor (*place)(T, std::optional<Integer>, Flag);
};

void extreme_rows(Rows& rows) {
  // Distinct elements, since there is no derivative where two are equal.
  const std::vector<Sample> samples = {
      {real({2, 3}).apart()}, {real({3, 2, 4}).apart()}, {integers({2, 3}, -50, 50).apart()}};
  const std::vector<Sample> number = {{real({})}};
  for (const Extreme& e :
       {Extreme{"max", max, max, amax, argmax}, Extreme{"min", min, min, amin, argmin}}) {
    rows.op(e.name, "torch." + e.name + "(a)", [e](T a) { return e.full(a); })
        .on(samples)
        .on(number)
        .refuses("[" + e.name + "] no elements to choose from in (0, 2)", {real({0, 2})});
    rows.op(e.name, "torch." + e.name + "(a, 0, keepdim=True)",
            [e](T a) { return values_and_indices(e.along(a, 0, true)); })
        .on(samples)
        .on(number);
    rows.op(e.name, "torch." + e.name + "(a, -1)",
            [e](T a) { return values_and_indices(e.along(a, -1, false)); })
        .on(samples)
        .on({{real({0, 3})}})
        .refuses("[" + e.name + "] dimension 1 of (2, 0) is empty", {real({2, 0})});
    rows.op("a" + e.name, "torch.a" + e.name + "(a)", [e](T a) { return e.shared(a, {}, false); })
        .on(samples)
        .on(number);
    rows.op("a" + e.name, "torch.a" + e.name + "(a, (0, -1), keepdim=True)",
            [e](T a) {
              return e.shared(a, {0, -1}, true);
            })
        .on(samples)
        .refuses("[a" + e.name + "] dimension 0 of (0, 2) is empty", {real({0, 2})});
    rows.op("arg" + e.name, "torch.arg" + e.name + "(a)",
            [e](T a) { return e.place(a, std::nullopt, false); })
        .on({{real({2, 3}).apart().constant()}, {real({}).constant()}});
    rows.op("arg" + e.name, "torch.arg" + e.name + "(a, -1, keepdim=True)",
            [e](T a) { return e.place(a, -1, true); })
        .on({{real({2, 3}).apart().constant()}, {integers({2, 3}, -50, 50).apart()}})
        .refuses("[arg" + e.name + "] dimension 1 of (2, 0) is empty", {real({2, 0})});
  }
}

// Rows for sum, mean, prod, cumsum and cumprod in another dtype than the input's.
void dtype_rows(Rows& rows) {
  const std::vector<Sample> samples = {{real({2, 3}).as(float32)}, {integers({2, 3}, 1, 4)}};
  rows.op("sum", "torch.sum(a, 1, dtype=torch.float64)",
          [](T a) { return sum(a, 1, false, float64); })
      .on(samples)
      .on({{real({2, 3})}});
  rows.op("sum", "torch.sum(a, 0, True, dtype=torch.int64)",
          [](T a) { return sum(a, 0, true, int64); })
      .on({{real({2, 3}).grid(1).constant()}, {bools({2, 3})}});
  rows.op("sum", "torch.sum(a, dtype=torch.float64)", [](T a) { return sum(a, float64); })
      .on(samples);
  rows.op("prod", "torch.prod(a, dtype=torch.float64)", [](T a) { return prod(a, float64); })
      .on(samples);
  rows.op("mean", "torch.mean(a, dtype=torch.float64)", [](T a) { return mean(a, float64); })
      .on(samples)
      .on({{real({2, 3})}});
  rows.op("prod", "torch.prod(a, 1, dtype=torch.float64)",
          [](T a) { return prod(a, 1, false, float64); })
      .on(samples)
      .on({{real({2, 3})}});
  rows.op("cumsum", "torch.cumsum(a, 1, dtype=torch.float64)",
          [](T a) { return cumsum(a, 1, float64); })
      .on(samples)
      .on({{real({2, 3})}});
  rows.op("cumprod", "torch.cumprod(a, 1, dtype=torch.float64)",
          [](T a) { return cumprod(a, 1, float64); })
      .on(samples)
      .on({{real({2, 3})}});
}

void pair_rows(Rows& rows) {
  using Pair = std::pair<Tensor, Tensor>;
  const auto list = [](const Pair& both) { return std::vector<Tensor>{both.first, both.second}; };
  rows.op("var_mean", "torch.var_mean(a)", [list](T a) { return list(var_mean(a)); })
      .on({{real({2, 3})}, {real({4})}})
      .refuses("[var] needs float32 or float64, got int64", {integers({2}, 0, 5)});
  rows.op("var_mean", "torch.var_mean(a, 1, correction=0, keepdim=True)",
          [list](T a) { return list(var_mean(a, 1, 0, true)); })
      .on({{real({2, 3})}});
  rows.op("std_mean", "torch.std_mean(a, 0)", [list](T a) { return list(std_mean(a, 0)); })
      .on({{real({4, 3})}})
      .refuses("[std] needs float32 or float64, got int64", {integers({2}, 0, 5)});
}

void counting_rows(Rows& rows) {
  // Returns `a` with NaN (0 / 0) where it is 0.
  const auto with_nans = [](T a) { return a + (a * 0) / a; };
  Input whole = real({2, 3});
  rows.op("nansum", "torch.nansum(a + a * 0 / a, 1)",
          [with_nans](T a) { return nansum(with_nans(a), 1); })
      .on({{whole.grid(1).constant()}});
  rows.op("nansum", "torch.nansum(a)", [](T a) { return nansum(a); })
      .on({{real({2, 3})}, {real({})}, {integers({3}, 0, 5)}, {bools({3})}})
      .refuses("[nansum] dimension 2 is out of range [-1, 0] for 1 dimensions", {real({2})},
               [](T a) { return nansum(a, 2); });
  rows.op("nansum", "torch.nansum(a, 0, dtype=torch.float64)",
          [](T a) { return nansum(a, 0, false, float64); })
      .on({{real({2, 3})}, {integers({2, 3}, 0, 5)}});
  rows.op("nanmean", "torch.nanmean(a, 0, dtype=torch.float64)",
          [](T a) { return nanmean(a, 0, false, float64); })
      .on({{real({2, 3})}});
  rows.op("norm", "torch.norm(a, 2, -1, dtype=torch.float64)",
          [](T a) { return norm(a, 2, -1, false, float64); })
      .on({{real({2, 3})}});
  rows.op("nanmean", "torch.nanmean(a + a * 0 / a, 1, True)",
          [with_nans](T a) { return nanmean(with_nans(a), 1, true); })
      .on({{whole.grid(1).constant()}});
  rows.op("nanmean", "torch.nanmean(a, 0)", [](T a) { return nanmean(a, 0); })
      .on({{real({2, 3})}})
      .refuses("[nanmean] needs float32 or float64, got int64", {integers({2}, 0, 5)});
  rows.op("count_nonzero", "torch.count_nonzero(a, 1)", [](T a) { return count_nonzero(a, 1); })
      .on({{integers({2, 3}, -1, 2)}, {bools({2, 3})}, {real({2, 3}).grid(1).constant()}})
      .refuses("[sum] dimension 1 is out of range [-1, 0] for 1 dimensions", {bools({2})});
  rows.op("count_nonzero", "torch.count_nonzero(a)", [](T a) { return count_nonzero(a); })
      .on({{integers({2, 3}, -1, 2)}, {bools({0})}});
}

void running_extreme_rows(Rows& rows) {
  const std::vector<Sample> samples = {
      {real({2, 5})}, {real({3, 4, 2})}, {real({})}, {real({2, 0})}};
  for (const std::int64_t d : {0, -1}) {
    rows.op("logcumsumexp", "torch.logcumsumexp(a, " + std::to_string(d) + ")",
            [d](T a) { return logcumsumexp(a, d); })
        .on(samples)
        .refuses("[logcumsumexp] needs float32 or float64, got int64", {integers({2}, 0, 5)});
    rows.op("cummax", "torch.cummax(a, " + std::to_string(d) + ")",
            [d](T a) { return values_and_indices(cummax(a, d)); })
        .on({{real({2, 5}).apart()}, {real({3, 4, 2}).apart()}, {real({})}})
        .on({{integers({3, 5}, -2, 3)}, {bools({5})}, {real({2, 0})}})
        .refuses("[cummax] dimension 5 is out of range [-1, 0] for 1 dimensions", {real({2})},
                 [](T a) { return cummax(a, 5).values; });
    rows.op("cummin", "torch.cummin(a, " + std::to_string(d) + ")",
            [d](T a) { return values_and_indices(cummin(a, d)); })
        .on({{real({2, 5}).apart()}, {real({3, 4, 2}).apart()}, {real({})}})
        .on({{integers({3, 5}, -2, 3)}, {bools({5})}, {real({2, 0})}})
        .refuses("[cummin] dimension 5 is out of range [-1, 0] for 1 dimensions", {real({2})},
                 [](T a) { return cummin(a, 5).values; });
  }
  const auto two = [](const std::string& name, Tensor (*f)(T, T), Rows& all) {
    all.op(name, "torch." + name + "(a, b)", f)
        .on({{real({2, 3}).grid(0.1), real({3}).grid(0.1, 0.05)}})
        .refuses("[" + name + "imum] (2, 3) and (4,) do not broadcast: dimension -1 is 3 and 4",
                 {real({2, 3}), real({4})});
  };
  two("max", max, rows);
  two("min", min, rows);
}

void middle_rows(Rows& rows) {
  // Distinct elements, since there is no derivative where two are equal.
  const std::vector<Sample> samples = {{real({2, 3}).apart()},
                                       {real({3, 2, 4}).apart()},
                                       {integers({2, 3}, -50, 50).apart()},
                                       {real({})}};
  rows.op("median", "torch.median(a)", [](T a) { return median(a); }).on(samples);
  rows.op("median", "torch.median(a, 0)", [](T a) { return values_and_indices(median(a, 0)); })
      .on(samples)
      .refuses("[median] dimension 0 of (0, 3) is empty", {real({0, 3})});
  rows.op("median", "torch.median(a, -1, keepdim=True)",
          [](T a) { return values_and_indices(median(a, -1, true)); })
      .on(samples)
      .on({{real({0, 3})}});
  const auto list = [](const Extremes& found) { return std::vector<Tensor>{found.min, found.max}; };
  // PyTorch's aminmax has no derivative, so the rows use amin and amax.
  rows.op("aminmax", "[torch.amin(a, ()), torch.amax(a, ())]",
          [list](T a) { return list(aminmax(a)); })
      .on(samples)
      .refuses("[amin] dimension 0 of (0, 2) is empty", {real({0, 2})});
  rows.op("aminmax", "[torch.amin(a, -1, True), torch.amax(a, -1, True)]",
          [list](T a) { return list(aminmax(a, -1, true)); })
      .on(samples);
}

// Rows for logsumexp and norms.
void size_rows(Rows& rows) {
  const std::vector<Sample> samples = {{real({2, 3})}, {real({3, 2, 4})}};
  rows.op("logsumexp", "torch.logsumexp(a, 0)", [](T a) { return logsumexp(a, 0); })
      .on(samples)
      .on({{real({})}, {integers({2, 3}, -4, 5)}, {real({2, 3}).in(700, 900)}, {real({2, 0})}});
  rows.op("logsumexp", "torch.logsumexp(a, (0, -1), keepdim=True)",
          [](T a) {
            return logsumexp(a, {0, -1}, true);
          })
      .on(samples)
      .refuses("[logsumexp] dimension 0 appears more than once in (0, -1)", {real({3})});
  for (const double p : {0., 0.5, 1., 1.5, 2., 3., -1.}) {
    const std::string call = as_text("torch.norm(a, ", p);
    const std::vector<Sample> away = {{real({2, 3}).off({0})}, {real({3, 2, 4}).off({0})}};
    rows.op("norm", call + ")", [p](T a) { return norm(a, p); })
        .on(away)
        .on({{real({}).off({0})}})
        .within(64)  // powers of float32
        .refuses("[norm] needs float32 or float64, got int64", {integers({2}, 1, 3)});
    rows.op("norm", call + ", -1, keepdim=True)", [p](T a) { return norm(a, p, -1, true); })
        .on(away)
        .on({{real({0, 3}).off({0})}})
        .within(64);
  }
  for (const double p : {INFINITY, -INFINITY}) {
    const std::string call = as_text("torch.norm(a, float('", p, "'), (0, -1))");
    rows.op("norm", call,
            [p](T a) {
              return norm(a, p, {0, -1});
            })
        .on({{real({2, 3}).in(0.1, 2).apart()}, {real({3, 2, 4}).in(-2, -0.1).apart()}})
        .refuses(as_text("[norm] the norm of order ", p,
                         " needs elements: dimension 1 of (2, 0) is empty"),
                 {real({2, 0})});
  }
}

void running_rows(Rows& rows) {
  for (const bool product : {false, true}) {
    const std::string name = product ? "cumprod" : "cumsum";
    const auto f = product ? cumprod : cumsum;
    const auto in_place = [product](T a, std::int64_t d) {
      return product ? a.cumprod_(d) : a.cumsum_(d);
    };
    rows.op(name, "torch." + name + "(a, -1)", [f](T a) { return f(a, -1, std::nullopt); })
        .on({{real({2, 3})}, {real({})}, {real({0, 3})}, {integers({4}, -9, 9)}, {bools({2, 3})}})
        .on({{real({2, 5}).grid(1)}})  // with zeros
        .in_place([in_place](T a) { return in_place(a, -1); });
    rows.op(name, "torch." + name + "(a, 1)", [f](T a) { return f(a, 1, std::nullopt); })
        .on({{real({2, 3})}, {real({3, 2, 4})}, {real({2, 1})}})
        .refuses("[" + name + "] dimension 1 is out of range [-1, 0] for 1 dimensions",
                 {real({3})});
  }
}

void truth_rows(Rows& rows) {
  // On a grid of width 1, some elements are 0.
  const std::vector<Sample> samples = {{real({2, 3}).grid(1).constant()},
                                       {bools({3, 2, 4})},
                                       {bools({0, 3})},
                                       {integers({2, 3}, 0, 2)}};
  rows.op("any", "torch.any(a)", [](T a) { return any(a); })
      .on(samples)
      .refuses("[any] dimension 2 is out of range [-2, 1] for 2 dimensions", {bools({2, 3})},
               [](T a) { return any(a, 2); });
  rows.op("any", "torch.any(a, -1, keepdim=True)", [](T a) { return any(a, -1, true); })
      .on(samples);
  rows.op("all", "torch.all(a)", [](T a) { return all(a); })
      .on(samples)
      .refuses("[all] dimension 2 is out of range [-2, 1] for 2 dimensions", {bools({2, 3})},
               [](T a) { return all(a, 2); });
  rows.op("all", "torch.all(a, 0)", [](T a) { return all(a, 0); }).on(samples);
}

}  // namespace

std::vector<Op> reduce_rows() {
  Rows rows;
  prod_rows(rows);
  deviation_rows(rows);
  extreme_rows(rows);
  truth_rows(rows);
  middle_rows(rows);
  size_rows(rows);
  running_rows(rows);
  const std::vector<Sample> samples = {{real({2, 3})}, {real({3, 2, 4})}, {real({2, 1})}};
  const std::vector<Sample> empty = {{real({0, 3})}, {real({2, 0})}};
  std::vector<Sample> sums = samples;
  sums.insert(sums.end(), empty.begin(), empty.end());
  sums.push_back({integers({2, 3}, -4, 5)});
  sums.push_back({bools({2, 3})});
  reduction(
      rows, "sum", [](T a, const Shape& d, bool k) { return sum(a, d, k); }, sums);
  reduction(
      rows, "mean", [](T a, const Shape& d, bool k) { return mean(a, d, k); }, samples);
  rows.op("sum_to_size", "a.sum_to_size(2, 1)",
          [](T a) {
            return sum_to_size(a, {2, 1});
          })
      .on({{real({2, 3})}, {real({3, 2, 4})}, {real({2, 1})}, {real({2, 0})}})
      .fixed_size()
      .refuses("[sum_to_size] (2, 1) does not broadcast to (3, 3)", {real({3, 3})});
  dtype_rows(rows);
  pair_rows(rows);
  counting_rows(rows);
  running_extreme_rows(rows);
  return rows.take();
}

}  // namespace tend::test
