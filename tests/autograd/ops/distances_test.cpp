// Compares cdist with the norms of differences.
#include <vector>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

Tensor by_norms(const Tensor& a, const Tensor& b, double p) {
  return norm(a.unsqueeze(-2) - b.unsqueeze(-3), p, {-1});
}

}  // namespace

TEST_CASE("cdist equals the norms of the differences for rows of every width") {
  manual_seed(4);
  for (const double p : {0.0, 1.0, 2.0, kInf}) {
    for (std::int64_t width = 1; width < 40; width += width < 18 ? 1 : 7) {
      INFO("order " << p << ", width " << width);
      const Tensor a = randn({2, 5, width}, float64), b = randn({3, width}, float64);
      // The tolerance allows for sums of up to 40 numbers in a different order.
      CHECK(allclose(cdist(a, b, p), by_norms(a, b, p), 1e-13, 1e-13));
    }
  }
}

TEST_CASE("the gradient of a distance of 0 is 0 with and without create_graph") {
  for (const double p : {0.0, 1.0, 2.0, kInf}) {
    for (const bool create_graph : {false, true}) {
      INFO("order " << p << ", create_graph " << create_graph);
      const Tensor x = ones({1, 3}, float64).requires_grad_();
      const Tensor y = ones({2, 3}, float64).requires_grad_();
      const auto found =
          autograd::grad({cdist(x, y, p).sum()}, {x, y}, {}, {.create_graph = create_graph});
      CHECK(values(found[0]) == std::vector<double>(3, 0.0));
      CHECK(values(found[1]) == std::vector<double>(6, 0.0));
    }
  }
}
