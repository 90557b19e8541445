// Rows for autograd/ops/loss.h, normalization.h and dropout.h.
#include "tests/autograd/op_table.h"

#include <tend/core/random.h>

namespace tend::test {
namespace {

using T = const Tensor&;

void loss_rows(Rows& rows) {
  const std::vector<Sample> classes = {{real({4, 3}), integers({4}, 0, 3)},
                                       {real({3}), integers({}, 0, 3)},
                                       {real({2, 3, 2}), integers({2, 2}, 0, 3)}};
  rows.op("cross_entropy", "F.cross_entropy(a, b)", [](T a, T b) { return cross_entropy(a, b); })
      .on(classes)
      .refuses("[cross_entropy] input (4, 3) needs a target of shape (4,), got (3,)",
               {real({4, 3}), integers({3}, 0, 3)})
      .refuses("[cross_entropy] target 3 is out of range for dimension 1 of (4, 3)",
               {real({4, 3}), integers({4}, 3, 4)})
      .refuses("[cross_entropy] the target is float64, not int64", {real({4, 3}), real({4})});
  rows.op("cross_entropy",
          "F.cross_entropy(a, b, ignore_index=1, reduction='sum', label_smoothing=0.1)",
          [](T a, T b) {
            return cross_entropy(a, b, {1, Reduction::sum, 0.1});
          })
      .on(classes);
  rows.op("cross_entropy",
          "F.cross_entropy(a, b, ignore_index=1, reduction='mean', label_smoothing=0.1)",
          [](T a, T b) {
            return cross_entropy(a, b, {1, Reduction::mean, 0.1});
          })
      .on({{real({4, 3}), integers({4}, 0, 3)}});
  rows.op("cross_entropy", "F.cross_entropy(a, b, reduction='none')",
          [](T a, T b) {
            return cross_entropy(a, b, {-100, Reduction::none, 0});
          })
      .on(classes)
      .on({{real({0, 3}), integers({0}, 0, 3)}});
  rows.op("nll_loss", "F.nll_loss(a, b, ignore_index=1)",
          [](T a, T b) {
            return nll_loss(a, b, {1, Reduction::mean});
          })
      .on({{real({4, 3}), integers({4}, 0, 3)}, {real({2, 3, 2}), integers({2, 2}, 0, 3)}});
  rows.op("nll_loss", "F.nll_loss(a, b, reduction='none')",
          [](T a, T b) {
            return nll_loss(a, b, {-100, Reduction::none});
          })
      .on(classes)
      .refuses("[nll_loss] a 0-d input has no classes", {real({}), integers({}, 0, 3)})
      .refuses("[nll_loss] target -1 is out of range for dimension 1 of (4, 3)",
               {real({4, 3}), integers({4}, -1, 0)});
  for (const auto& [text, reduction] :
       {std::pair{"none", Reduction::none}, {"mean", Reduction::mean}, {"sum", Reduction::sum}}) {
    const Reduction r = reduction;
    rows.op("mse_loss", "F.mse_loss(a, b, reduction='" + std::string(text) + "')",
            [r](T a, T b) { return mse_loss(a, b, r); })
        .on({{real({2, 3}), real({2, 3})}, {real({}), real({})}})
        .refuses("[mse_loss] (2,) and (3,) do not broadcast: dimension -1 is 2 and 3",
                 {real({2}), real({3})})
        .refuses("[mse_loss] needs float32 or float64, got int64 and int64",
                 {integers({2}, 0, 3), integers({2}, 0, 3)});
  }
}

void normalization_rows(Rows& rows) {
  rows.op("layer_norm", "F.layer_norm(a, (3,), b, c)",
          [](T a, T b, T c) { return layer_norm(a, {3}, b, c); })
      .on({{real({2, 3}), real({3}), real({3})},
           {real({2, 2, 3}), real({3}), real({3})},
           {real({3}), real({3}), real({3})},
           {real({0, 3}), real({3}), real({3})}})
      .refuses("[layer_norm] input (3, 2) does not end with normalized_shape (3,)",
               {real({3, 2}), real({3}), real({3})})
      .refuses("[layer_norm] weight (2,) for normalized_shape (3,)",
               {real({2, 3}), real({2}), real({3})})
      .refuses("[layer_norm] bias is float32, the input float64",
               {real({2, 3}), real({3}), real({3}).as(float32)})
      .fixed_size();
  rows.op("layer_norm", "F.layer_norm(a, a.shape[1:], eps=0.1)",
          [](T a) {
            Shape inner = a.shape();
            inner.erase(0);
            return layer_norm(a, inner, {}, {}, 0.1);
          })
      .on({{real({2, 3})}, {real({2, 3, 2})}});
}

}  // namespace

std::vector<Op> network_rows() {
  Rows rows;
  loss_rows(rows);
  normalization_rows(rows);
  rows.op("dropout", "(torch.manual_seed(3), F.dropout(a, 0.4))[1]",
          [](T a) {
            Generator generator(3);
            return dropout(a, 0.4, true, generator);
          })
      .on({{real({2, 3})}, {real({2, 3, 2})}, {real({})}, {real({0})}});
  rows.op("dropout", "F.dropout(a, 0.4, training=False)",
          [](T a) { return dropout(a, 0.4, false); })
      .on({{real({2, 3})}});
  return rows.take();
}

}  // namespace tend::test
