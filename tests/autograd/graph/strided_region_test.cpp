// Gradients through views that were written to. Some of their bases are row-major, others are not.
#include <tend/autograd/graph/strided_region.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("a gradient is read only from the current elements of the base") {
  const Tensor w = ones({1}, float32).requires_grad_();

  SECTION("the base was given elements with gaps") {
    const Tensor b = zeros({4});
    const Tensor v = b.narrow(0, 1, 1);
    Tensor named = b;
    named.set_data(b.detach().slice(0, 0, 4, 2));
    v.copy_(w);
    // The written element is between the elements that the base has now.
    named.backward(arange(1, 5).to(float32).slice(0, 0, 4, 2));
    CHECK((!w.grad().defined() || w.grad().item() == 0));
  }
  SECTION("the view is beyond the new elements of the base") {
    const Tensor b = zeros({4});
    const Tensor v = b.narrow(0, 3, 1);
    Tensor named = b;
    named.set_data(b.detach().narrow(0, 0, 2));
    v.copy_(w);
    CHECK_THROWS_AS(named.backward(arange(1, 9).to(float32).narrow(0, 0, 2)), ShapeError);
  }
}

TEST_CASE("a view of an expanded base cannot record a write") {
  const Tensor w = ones({3}).requires_grad_();
  const Tensor b = zeros({3}).expand({2, 3}).detach();
  CHECK_THROWS_AS(b.select(0, 1).copy_(w), ShapeError);
}

TEST_CASE("a gradient passes through a written view with a new dimension of size 1") {
  const Tensor w = ones({1, 2}).requires_grad_();
  const Tensor b = zeros({3});
  const Tensor view = b.narrow(0, 1, 2).expand({1, 2});
  view.copy_(w);
  (view * tensor({{2, 3}}, float32)).sum().backward();
  CHECK(values(w.grad()) == std::vector<double>{2, 3});
}
