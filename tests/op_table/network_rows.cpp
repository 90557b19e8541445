// Rows for autograd/ops/dropout.h.
#include "tests/op_table/op_table.h"

#include <tend/core/random/random.h>

namespace tend::test {
namespace {

using T = const Tensor&;

}  // namespace

std::vector<Op> network_rows() {
  Rows rows;
  rows.op("dropout", "(torch.manual_seed(3), F.dropout(a, 0.4))[1]",
          [](T a) {
            Generator generator(3);
            return dropout(a, 0.4, true, generator);
          })
      .on({{real({2, 3})}, {real({2, 3, 2})}, {real({})}, {real({0})}})
      .refuses("[dropout] needs float32 or float64, got int64", {integers({2}, 0, 5)});
  rows.op("dropout", "F.dropout(a, 0.4, training=False)",
          [](T a) { return dropout(a, 0.4, false); })
      .on({{real({2, 3})}});
  rows.op("gumbel_softmax", "(torch.manual_seed(3), F.gumbel_softmax(a, 0.7))[1]",
          [](T a) {
            Generator generator(3);
            return gumbel_softmax(a, 0.7, false, 1e-10, -1, generator);
          })
      .on({{real({2, 3})}, {real({4})}})
      .refuses("[gumbel_softmax] needs float32 or float64, got int64", {integers({2}, 0, 5)})
      .refuses("[gumbel_softmax] tau is 0, not a number above 0", {real({2})},
               [](T a) { return gumbel_softmax(a, 0); });
  rows.op("gumbel_softmax", "(torch.manual_seed(3), F.gumbel_softmax(a, hard=True, dim=0))[1]",
          [](T a) {
            Generator generator(3);
            return gumbel_softmax(a, 1, true, 1e-10, 0, generator);
          })
      .on({{real({4, 3})}})
      .no_differences();  // by design, the gradient is softmax's
  return rows.take();
}

}  // namespace tend::test
