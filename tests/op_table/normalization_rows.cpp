// Rows for autograd/ops/normalization.h.
#include "tests/op_table/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;
using List = const std::vector<Tensor>&;

Shape without_first(Shape shape) {
  if (!shape.empty()) shape.erase(0);
  return shape;
}

void layer_norm_rows(Rows& rows) {
  rows.op("layer_norm", "F.layer_norm(a, (3,), b, c)",
          [](T a, T b, T c) { return layer_norm(a, {3}, b, c); })
      .on({{real({2, 3}), real({3}), real({3})},
           {real({2, 2, 3}), real({3}), real({3})},
           {real({3}), real({3}), real({3})},
           {real({0, 3}), real({3}), real({3})}})
      .refuses("[layer_norm] input (3, 2) does not end with normalized_shape (3,)",
               {real({3, 2}), real({3}), real({3})})
      .refuses("[layer_norm] weight must have the shape (3,) (normalized_shape), but has (2,)",
               {real({2, 3}), real({2}), real({3})})
      .refuses("[layer_norm] bias must have the input's dtype float64, but is float32",
               {real({2, 3}), real({3}), real({3}).as(float32)})
      .fixed_size();
  rows.op("layer_norm", "F.layer_norm(a, a.shape[1:], eps=0.1)",
          [](T a) { return layer_norm(a, without_first(a.shape()), {}, {}, 0.1); })
      .on({{real({2, 3})}, {real({2, 3, 2})}});
}

void rms_norm_rows(Rows& rows) {
  rows.op("rms_norm", "F.rms_norm(a, (3,), b)", [](T a, T b) { return rms_norm(a, {3}, b); })
      .on({{real({2, 3}), real({3})},
           {real({2, 2, 3}), real({3})},
           {real({3}), real({3})},
           {real({0, 3}), real({3})}})
      .refuses("[rms_norm] input (3, 2) does not end with normalized_shape (3,)",
               {real({3, 2}), real({3})})
      .refuses("[rms_norm] weight must have the shape (3,) (normalized_shape), but has (2,)",
               {real({2, 3}), real({2})})
      .refuses("[rms_norm] needs float32 or float64, got int64",
               {integers({2, 3}, 0, 3), real({3})})
      .within(64)  // float32 has a larger epsilon, which matters in rows of small numbers
      .fixed_size();
  rows.op("rms_norm", "F.rms_norm(a, a.shape[1:], eps=0.1)",
          [](T a) { return rms_norm(a, without_first(a.shape()), {}, 0.1); })
      .on({{real({2, 3})}, {real({2, 3, 2})}});
}

Sample statistics(const Shape& input) {
  return {real(input), real({3}).constant(), real({3}).in(0.1, 2).constant(), real({3}), real({3})};
}

void batch_norm_rows(Rows& rows) {
  rows.op("batch_norm", "F.batch_norm(a, b, c, d, e)",
          [](List x) { return batch_norm(x[0], x[1], x[2], x[3], x[4]); })
      .on({statistics({2, 3}), statistics({2, 3, 2}), statistics({1, 3}), statistics({0, 3})})
      .refuses("[batch_norm] the input needs channels in dimension 1, but has shape (3,)",
               statistics({3}))
      .refuses("[batch_norm] needs float32 or float64, got int64",
               {integers({2, 3}, 0, 3), real({3}), real({3}), real({3}), real({3})})
      .refuses("[batch_norm] running_var must have the shape (3,) (channels), but has (2,)",
               {real({2, 3}), real({3}), real({2}), real({3}), real({3})})
      .refuses("[batch_norm] weight must have the shape (3,) (channels), but has (1,)",
               {real({2, 3}), real({3}), real({3}), real({1}), real({3})})
      .fixed_size();
  // batch_norm writes to its statistics, so it gets copies. These have no gradient.
  const auto train = [](List x) -> std::vector<Tensor> {
    const Tensor mean = x[1].clone(), var = x[2].clone();
    const BatchNormOptions options{.training = true, .momentum = 0.3, .eps = 0.1};
    return {batch_norm(x[0], mean, var, x[3], x[4], options), mean, var};
  };
  rows.op("batch_norm", "F.batch_norm(a, b.clone(), c.clone(), d, e, True, 0.3, 0.1)",
          [train](List x) { return train(x)[0]; })
      .on({statistics({3, 3}), statistics({2, 3, 2}), statistics({2, 3, 1, 2}), statistics({0, 3})})
      .refuses("[batch_norm] input (1, 3) has one value per channel, which is too few for training",
               statistics({1, 3}))
      .fixed_size();
  Sample constants = statistics({2, 3, 2});
  for (Input& input : constants) input.constant();
  rows.op("batch_norm",
          "(lambda r, s: (F.batch_norm(a, r, s, d, e, True, 0.3, 0.1), r, s))(b.clone(), "
          "c.clone())",
          train)
      .on({constants})
      .fixed_size();
  rows.op("batch_norm", "F.batch_norm(a, None, None, training=True)",
          [](T a) { return batch_norm(a, {}, {}, {}, {}, {.training = true}); })
      .on({{real({3, 3})}, {real({2, 3, 2})}});
  rows.op("batch_norm", "F.batch_norm(a, b, c, eps=0.1)",
          [](T a, T b, T c) { return batch_norm(a, b, c, {}, {}, {.eps = 0.1}); })
      .on({{real({3, 3}), real({3}).constant(), real({3}).in(0.1, 2).constant()}})
      .fixed_size();
}

void group_norm_rows(Rows& rows) {
  rows.op("group_norm", "F.group_norm(a, 2, b, c)",
          [](T a, T b, T c) { return group_norm(a, 2, b, c); })
      .on({{real({2, 4}), real({4}), real({4})},
           {real({2, 4, 3}), real({4}), real({4})},
           {real({1, 2, 2, 2}), real({2}), real({2})},
           {real({0, 4}), real({4}), real({4})}})
      .refuses("[group_norm] 2 groups do not divide dimension 1 of (2, 3)",
               {real({2, 3}), real({3}), real({3})})
      .refuses("[group_norm] input (1, 2) has one value per group, which is too few",
               {real({1, 2}), real({2}), real({2})})
      .refuses("[group_norm] bias must have the shape (4,) (channels), but has (1,)",
               {real({2, 4}), real({4}), real({1})})
      .fixed_size();
  rows.op("group_norm", "F.group_norm(a, 2)", [](T a) { return group_norm(a, 2); })
      .on({{real({2, 4})}});
  rows.op("group_norm", "F.group_norm(a, 1, eps=0.1)",
          [](T a) { return group_norm(a, 1, {}, {}, 0.1); })
      .on({{real({2, 3})}, {real({2, 3, 2})}});
}

}  // namespace

std::vector<Op> normalization_rows() {
  Rows rows;
  layer_norm_rows(rows);
  rms_norm_rows(rows);
  batch_norm_rows(rows);
  group_norm_rows(rows);
  rows.op("normalize", "F.normalize(a)", [](T a) { return normalize(a); })
      .on({{real({2, 3})}, {real({3, 2, 4})}})
      .refuses("[norm] dimension 1 is out of range [-1, 0] for 1 dimensions", {real({3})})
      .refuses("[norm] needs float32 or float64, got int64", {integers({2, 2}, 0, 5)});
  rows.op("normalize", "F.normalize(a, 3, 0, 0.5)", [](T a) { return normalize(a, 3, 0, 0.5); })
      .on({{real({2, 3}).off({0})}});
  rows.op("layer_norm", "F.layer_norm(a, (3,))", [](T a) { return layer_norm(a, {3}); })
      .on({{real({2, 3})}})
      .fixed_size();
  return rows.take();
}

}  // namespace tend::test
