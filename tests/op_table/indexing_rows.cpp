// Rows for autograd/ops/indexing.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

// Adds rows for each reduction, with and without self as a term.
void add_scatter_reduce(Rows& rows) {
  using Reduction = ScatterReduction;
  constexpr std::pair<const char*, Reduction> kReductions[] = {{"sum", Reduction::sum},
                                                               {"prod", Reduction::prod},
                                                               {"mean", Reduction::mean},
                                                               {"amax", Reduction::amax},
                                                               {"amin", Reduction::amin}};
  for (const auto& [name, reduce] : kReductions) {
    for (const bool include_self : {true, false}) {
      const std::string rest = include_self ? "" : ", include_self=False";
      const std::string torch =
          std::string("torch.scatter_reduce(a, 1, b, c, '") + name + "'" + rest + ")";
      rows.op("scatter_reduce", torch,
              [=, how = reduce](T a, T b, T c) {
                return scatter_reduce(a, 1, b, c, how, include_self);
              })
          // All terms differ. Equal terms would share the gradient, which finite differences do not
          // show.
          .on({{real({2, 3}).grid(0.1), integers({2, 4}, 0, 3),
                real({2, 4}).grid(0.1, 0.05).apart()},
               {real({3, 3}).grid(0.1), integers({2, 2}, 0, 3),
                real({2, 2}).grid(0.1, 0.05).apart()},
               {real({2, 3}), integers({0, 2}, 0, 3), real({0, 2})},
               {integers({2, 3}, -9, 9), integers({2, 4}, 0, 3), integers({2, 4}, -9, 9)}})
          .in_place([=, how = reduce](T a, T b, T c) {
            return a.scatter_reduce_(1, b, c, how, include_self);
          })
          .refuses("[scatter_reduce] index (2, 4) is larger than (2, 3) or of another rank",
                   {real({2, 3}), integers({2, 4}, 0, 3), real({2, 3})})
          .refuses("[scatter_reduce] index 3 is out of range for dimension 1 of (2, 3)",
                   {real({2, 3}), integers({1, 1}, 3, 4), real({2, 3})})
          .refuses("[scatter_reduce] the elements must have one dtype, but are float32 and float64",
                   {real({2, 3}), integers({2, 2}, 0, 3), real({2, 2}).as(float32)});
    }
  }
}

}  // namespace

std::vector<Op> indexing_rows() {
  Rows rows;
  rows.op("gather", "torch.gather(a, 1, b)", [](T a, T b) { return gather(a, 1, b); })
      .on({{real({2, 3}), integers({2, 4}, 0, 3)},
           {real({3, 3}), integers({2, 2}, 0, 3)},
           {real({2, 3, 2}), integers({1, 2, 2}, 0, 3)},
           {real({2, 3}), integers({2, 0}, 0, 3)}})
      .refuses("[gather] the index is float64, not int64", {real({2, 3}), real({2, 3})})
      .refuses("[gather] index (2,) is larger than (2, 3) or of another rank",
               {real({2, 3}), integers({2}, 0, 3)})
      .refuses("[gather] index (3, 2) is larger than (2, 3) or of another rank",
               {real({2, 3}), integers({3, 2}, 0, 3)})
      .refuses("[gather] index 3 is out of range for dimension 1 of (2, 3)",
               {real({2, 3}), integers({1, 1}, 3, 4)});
  rows.op("gather", "torch.gather(a, 0, b)", [](T a, T b) { return gather(a, 0, b); })
      .on({{real({3, 2}), integers({4, 2}, 0, 3)}, {real({}), integers({}, 0, 1)}});
  rows.op("scatter_add", "torch.scatter_add(a, 1, b, c)",
          [](T a, T b, T c) { return scatter_add(a, 1, b, c); })
      .on({{real({2, 3}), integers({2, 4}, 0, 3), real({2, 4})},
           {real({3, 3}), integers({2, 2}, 0, 3), real({2, 3})},
           {real({2, 3}), integers({0, 2}, 0, 3), real({2, 2})}})
      .in_place([](T a, T b, T c) { return a.scatter_add_(1, b, c); })
      .refuses("[scatter_add] index (2, 4) is larger than (2, 3) or of another rank",
               {real({2, 3}), integers({2, 4}, 0, 3), real({2, 3})})
      .refuses("[scatter_add] the elements must have one dtype, but are float32 and float64",
               {real({2, 3}), integers({2, 2}, 0, 3), real({2, 2}).as(float32)});
  rows.op("scatter", "torch.scatter(a, 1, b, c)", [](T a, T b, T c) { return scatter(a, 1, b, c); })
      .on({{real({2, 3}), integers({1, 3}, 0, 3).apart(), real({2, 4})},
           {real({2, 4}), integers({2, 2}, 0, 4).apart(), real({2, 2})},
           {real({2, 3}), integers({0, 2}, 0, 3), real({2, 2})}})
      .fixed_size()
      .in_place([](T a, T b, T c) { return a.scatter_(1, b, c); })
      .refuses("[scatter] index (2, 4) is larger than (2, 3) or of another rank",
               {real({2, 3}), integers({2, 4}, 0, 3), real({2, 3})})
      .refuses("[scatter] index 3 is out of range for dimension 1 of (2, 3)",
               {real({2, 3}), integers({1, 1}, 3, 4), real({2, 3})})
      .refuses("[scatter] the elements must have one dtype, but are float32 and float64",
               {real({2, 3}), integers({2, 2}, 0, 3), real({2, 2}).as(float32)});
  rows.op("scatter", "torch.scatter(a, 0, b, -2.5)",
          [](T a, T b) { return scatter(a, 0, b, -2.5); })
      .on({{real({2, 3}), integers({4, 3}, 0, 2)},
           {real({}), integers({}, 0, 1)},
           {integers({3}, 0, 9), integers({2}, 0, 3)},
           {real({0, 3}), integers({0, 3}, 0, 1)}})
      .in_place([](T a, T b) { return a.scatter_(0, b, -2.5); })
      .refuses("[scatter] the index is float64, not int64", {real({2, 3}), real({2, 3})});
  add_scatter_reduce(rows);
  rows.op("take_along_dim", "torch.take_along_dim(a, b, 1)",
          [](T a, T b) { return take_along_dim(a, b, 1); })
      .on({{real({2, 3}), integers({2, 4}, 0, 3)},
           {real({2, 3}), integers({1, 2}, 0, 3)},
           {real({1, 3}), integers({2, 2}, 0, 3)},
           {real({2, 3}), integers({2, 0}, 0, 3)}})
      .refuses("[take_along_dim] an index of shape (2,) has another rank than (2, 3)",
               {real({2, 3}), integers({2}, 0, 3)});
  rows.op("take_along_dim", "torch.take_along_dim(a, b)",
          [](T a, T b) { return take_along_dim(a, b); })
      .on({{real({2, 3}), integers({2, 2}, 0, 6)}, {real({}), integers({}, 0, 1)}})
      .refuses("[gather] index 6 is out of range for dimension 0 of (6,)",
               {real({2, 3}), integers({2}, 6, 7)});
  rows.op("index_select", "torch.index_select(a, 1, b)",
          [](T a, T b) { return index_select(a, 1, b); })
      .on({{real({2, 3}), integers({4}, 0, 3)},
           {real({2, 3, 2}), integers({2}, 0, 3)},
           {real({2, 3}), integers({}, 0, 3)},
           {real({2, 3}), integers({0}, 0, 3)}})
      .refuses("[index_select] index -1 is out of range for dimension 1 of (2, 3)",
               {real({2, 3}), integers({1}, -1, 0)})
      .refuses("[index_select] the index has shape (1, 1), not one dimension",
               {real({2, 3}), integers({1, 1}, 0, 3)});
  rows.op("index_add", "torch.index_add(a, 1, b, c)",
          [](T a, T b, T c) { return index_add(a, 1, b, c); })
      .on({{real({2, 3}), integers({4}, 0, 3), real({2, 4})},
           {real({2, 3, 2}), integers({2}, 0, 3), real({2, 2, 2})}})
      .in_place([](T a, T b, T c) { return a.index_add_(1, b, c); })
      .refuses("[index_add] source (2, 3) and index (4,) do not fit (2, 3) in dimension 1",
               {real({2, 3}), integers({4}, 0, 3), real({2, 3})});
  rows.op("index_add", "torch.index_add(a, 1, b, c, alpha=-1.5)",
          [](T a, T b, T c) { return index_add(a, 1, b, c, -1.5); })
      .on({{real({2, 3}), integers({4}, 0, 3), real({2, 4})}})
      .in_place([](T a, T b, T c) { return a.index_add_(1, b, c, -1.5); });
  rows.op("slice_scatter", "torch.slice_scatter(a, b, 1, 1, None, 2)",
          [](T a, T b) { return slice_scatter(a, b, 1, 1, std::nullopt, 2); })
      .on({{real({2, 6}), real({2, 3})}, {integers({2, 4, 2}, 0, 5), integers({2, 2, 2}, 0, 5)}})
      .fixed_size()
      .refuses("[slice_scatter] the source must have shape (2, 3), but has (2,)",
               {real({2, 6}), real({2})});
  rows.op("select_scatter", "torch.select_scatter(a, b, 1, -1)",
          [](T a, T b) { return select_scatter(a, b, 1, -1); })
      .on({{real({2, 3}), real({2})}, {real({2, 3, 2}), real({2, 2})}})
      .fixed_size()
      .refuses("[select_scatter] the source must have shape (2,), but has (3,)",
               {real({2, 3}), real({3})});
  rows.op("embedding", "F.embedding(a, b)", [](T a, T b) { return embedding(a, b); })
      .on({{integers({2, 4}, 0, 3), real({3, 2})},
           {integers({}, 0, 3), real({3, 2})},
           {integers({0}, 0, 3), real({3, 2})}})
      .refuses("[embedding] index 3 is out of range for dimension 0 of (3, 2)",
               {integers({2}, 3, 4), real({3, 2})})
      .refuses("[embedding] the weight has shape (3,), not (num_embeddings, embedding_dim)",
               {integers({2}, 0, 3), real({3})});
  rows.op("embedding", "torch.embedding(a, b)", [](T a, T b) { return embedding(a, b); })
      .on({{real({3, 2}), integers({2, 4}, 0, 3)}})
      .refuses("[embedding] index 3 is out of range for dimension 0 of (3, 2)",
               {real({3, 2}), integers({2}, 3, 4)});
  rows.op("embedding", "F.embedding(a, b, padding_idx=1)",
          [](T a, T b) { return embedding(a, b, 1); })
      .on({{integers({2, 4}, 0, 3), real({3, 2})}})
      .no_differences();
  rows.op("one_hot", "F.one_hot(a)", [](T a) { return one_hot(a); })
      .on({{integers({2, 4}, 0, 3)}, {integers({}, 2, 3)}})
      .refuses("[one_hot] num_classes must be given for indices without elements, shape (0,)",
               {integers({0}, 0, 1)})
      .fixed_size();
  rows.op("one_hot", "F.one_hot(a, 4)", [](T a) { return one_hot(a, 4); })
      .on({{integers({2, 4}, 0, 3)}, {integers({0}, 0, 3)}})
      .refuses("[one_hot] index -1 is out of range for dimension 1 of (2, 4)",
               {integers({2}, -1, 0)});
  return rows.take();
}

}  // namespace tend::test
