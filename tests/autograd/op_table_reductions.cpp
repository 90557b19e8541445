// Rows for autograd/ops/reduce.h.
#include "tests/autograd/op_table.h"

namespace tend::test {
namespace {

using T = const Tensor&;

// A reduction over all dimensions, over some, and over one that is kept.
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

}  // namespace

std::vector<Op> reduction_rows() {
  Rows rows;
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
  return rows.take();
}

}  // namespace tend::test
