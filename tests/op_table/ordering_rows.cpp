// Rows for autograd/ops/ordering.h.
#include "tests/op_table/op_table.h"

#include <utility>

namespace tend::test {
namespace {

using T = const Tensor&;

void ordering_rows(Rows& rows) {
  // Distinct elements, since there is no derivative where two are equal.
  const std::vector<Sample> samples = {
      {real({2, 3}).apart()}, {real({3, 3, 2}).apart()}, {integers({2, 3}, -50, 50).apart()}};
  rows.op("sort", "torch.sort(a)", [](T a) { return values_and_indices(sort(a)); })
      .on(samples)
      .on({{real({})}, {real({2, 0})}});
  rows.op("sort", "torch.sort(a, 1, descending=True)",
          [](T a) { return values_and_indices(sort(a, 1, true)); })
      .on(samples)
      .refuses("[sort] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})});
  rows.op("topk", "torch.topk(a, 2)", [](T a) { return values_and_indices(topk(a, 2)); })
      .on(samples)
      .refuses("[topk] k = 2, but dimension 0 of (1,) has 1 elements", {real({1})});
  rows.op("topk", "torch.topk(a, 1, 1, largest=False)",
          [](T a) { return values_and_indices(topk(a, 1, 1, false)); })
      .on(samples);
}

void quantile_rows(Rows& rows) {
  // Distinct elements, since there is no derivative where two are equal.
  const std::vector<Sample> samples = {{real({2, 5}).apart()}, {real({3, 4, 2}).apart()}};
  rows.op("quantile", "torch.quantile(a, 0.3)", [](T a) { return quantile(a, 0.3); })
      .on(samples)
      .on({{real({})}})
      .refuses("[quantile] needs float32 or float64, got int64", {integers({2}, 0, 5)})
      .refuses("[quantile] no elements in shape (0,)", {real({0})})
      .refuses("[quantile] q must be in [0, 1], got 1.5", {real({2})},
               [](T a) { return quantile(a, 1.5); });
  using enum Interpolation;
  const std::pair<Interpolation, std::string> kinds[] = {{linear, "linear"},
                                                         {lower, "lower"},
                                                         {higher, "higher"},
                                                         {nearest, "nearest"},
                                                         {midpoint, "midpoint"}};
  for (const auto& [kind, name] : kinds) {
    rows.op("quantile", "torch.quantile(a, 0.6, 1, True, interpolation='" + name + "')",
            [kind = kind](T a) { return quantile(a, 0.6, 1, true, kind); })
        .on(samples);
  }
  rows.op("quantile", "torch.quantile(a, b, 0)", [](T a, T b) { return quantile(a, b, 0); })
      .on({{real({5, 2}).apart(), real({3}).in(0, 1).constant()},
           {real({5}).apart(), real({}).in(0, 1).constant()},
           {real({5, 2}).apart(), real({0}).constant()}})
      .fixed_size()
      .refuses("[quantile] q must be 0-d or 1-d, got shape (1, 1)", {real({2}), real({1, 1})});
}

void searching_rows(Rows& rows) {
  rows.op("argsort", "torch.argsort(a, 0)", [](T a) { return argsort(a, 0); })
      .on({{real({3, 2}).apart().constant()}, {integers({4}, -50, 50).apart()}, {real({0, 2})}})
      .refuses("[sort] dimension 2 is out of range [-2, 1] for 2 dimensions", {real({2, 3})},
               [](T a) { return argsort(a, 2); });
  rows.op("unique", "torch.unique(a, return_inverse=True, return_counts=True)",
          [](T a) {
            const UniqueElements found = unique(a, true, true, true);
            return std::vector<Tensor>{found.values, found.inverse, found.counts};
          })
      .on({{integers({3, 4}, -3, 4)},
           {real({3, 4}).grid(1).constant()},
           {bools({5})},
           {real({}).constant()},
           {integers({0, 3}, 0, 1)}});
  rows.op("unique", "torch.unique(a)", [](T a) { return unique(a).values; })
      .on({{integers({3, 4}, -3, 4)}});
  rows.op("unique", "torch.unique(a, return_inverse=True, return_counts=True, dim=1)",
          [](T a) {
            const UniqueElements found = unique(a, true, true, true, 1);
            return std::vector<Tensor>{found.values, found.inverse, found.counts};
          })
      .on({{integers({2, 6}, 0, 2)},
           {integers({2, 7, 2}, -1, 1)},
           {real({1, 6}).grid(1).constant()},
           {bools({2, 5})},
           {real({2, 0}).constant()}})
      .refuses("[unique] a 0-d tensor has no dimension 1", {integers({}, 0, 2)})
      .refuses("[unique] dimension 1 is out of range [-1, 0] for 1 dimensions",
               {integers({3}, 0, 2)})
      .refuses("[unique] slices of (0, 3) along dimension 1 have no elements",
               {integers({0, 3}, 0, 1)});
  rows.op("unique_consecutive",
          "torch.unique_consecutive(a, return_inverse=True, return_counts=True, dim=0)",
          [](T a) {
            const UniqueElements found = unique_consecutive(a, true, true, 0);
            return std::vector<Tensor>{found.values, found.inverse, found.counts};
          })
      .on({{integers({7, 2}, 0, 2)}, {bools({9})}, {integers({0, 3}, 0, 1)}})
      .refuses("[unique_consecutive] slices of (3, 0) along dimension 0 have no elements",
               {integers({3, 0}, 0, 1)});
  rows.op("unique_consecutive",
          "torch.unique_consecutive(a, return_inverse=True, return_counts=True)",
          [](T a) {
            const UniqueElements found = unique_consecutive(a, true, true);
            return std::vector<Tensor>{found.values, found.inverse, found.counts};
          })
      .on({{integers({3, 4}, 0, 2)}, {bools({9})}, {integers({0, 3}, 0, 1)}});
  rows.op("isin", "torch.isin(a, b)", [](T a, T b) { return isin(a, b); })
      .on({{integers({3, 4}, -3, 4), integers({2, 2}, 0, 9)},
           {real({3, 4}).grid(1).constant(), integers({4}, -1, 3)},
           {integers({3}, 0, 3), integers({0}, 0, 1)}});
  rows.op("isin", "torch.isin(a, b, invert=True)", [](T a, T b) { return isin(a, b, false, true); })
      .on({{integers({3, 4}, -3, 4), integers({5}, 0, 9)}});
  rows.op("isin", "torch.isin(a, 2)", [](T a) { return isin(a, 2); })
      .on({{integers({3, 4}, -3, 4)}, {real({3}).grid(1).constant()}});
  rows.op("isin", "torch.isin(2, a)", [](T a) { return isin(2, a); })
      .on({{integers({3, 4}, -3, 4)}, {integers({2}, 4, 9)}});
  rows.op("bincount", "torch.bincount(a)", [](T a) { return bincount(a); })
      .on({{integers({9}, 0, 6)}, {integers({0}, 0, 1)}})
      .refuses("[bincount] needs int64, got float64", {real({3})})
      .refuses("[bincount] needs one dimension, got (2, 2)", {integers({2, 2}, 0, 3)})
      .refuses("[bincount] the element -1 is negative", {integers({2}, -1, 0)});
  rows.op("bincount", "torch.bincount(a, b, minlength=8)",
          [](T a, T b) { return bincount(a, b, 8); })
      .on({{integers({9}, 0, 6), real({9}).constant()},
           {integers({3}, 0, 10), integers({3}, 0, 5)}})
      .within(24)  // sums of many elements
      .refuses("[bincount] the weights must have self's shape (3,), but have (2,)",
               {integers({3}, 0, 3), real({2})});
  const std::vector<Sample> searches = {
      {real({3, 5}).constant(), real({3, 4}).grid(0.5).constant()},
      {integers({3, 5}, -4, 4), real({3, 2}).constant()},
      {real({2, 0}).constant(), real({2, 2}).constant()}};
  rows.op("searchsorted", "torch.searchsorted(a.sort()[0], b)",
          [](T a, T b) { return searchsorted(a.sort().values, b); })
      .on(searches)
      .on({{real({5}).constant(), real({2, 3}).constant()}, {real({5}), real({})}})
      .refuses(
          "[searchsorted] a sequence of shape (2, 3) must be 1-d, or have the shape of the values, "
          "(3, 3), except for the last dimension",
          {real({2, 3}), real({3, 3})});
  rows.op("searchsorted", "torch.searchsorted(a.sort()[0], b, right=True)",
          [](T a, T b) { return searchsorted(a.sort().values, b, true); })
      .on(searches)
      .refuses("[searchsorted] needs numbers, got bool", {bools({3}), bools({2})});
}

}  // namespace

std::vector<Op> ordering_rows() {
  Rows rows;
  ordering_rows(rows);
  quantile_rows(rows);
  searching_rows(rows);
  return rows.take();
}

}  // namespace tend::test
