// Flatten and Identity.
#include "tests/nn/fixtures.h"

using namespace tend;

TEST_CASE("Flatten merges the given dimensions, by default all but the first") {
  const Tensor x = arange(24).view({2, 3, 4});
  CHECK(nn::Flatten()(x).equal(x.view({2, 12})));
  CHECK(nn::Flatten(0, 1)(x).equal(x.view({6, 4})));
  CHECK_THROWS_AS(nn::Flatten(3)(x), IndexError);
  CHECK(nn::Flatten().repr() == "Flatten(start_dim=1, end_dim=-1)");
  const Tensor leaf = ones({2, 3}).requires_grad_();
  (nn::Flatten(0)(leaf) * 2).sum().backward();
  CHECK(leaf.grad().shape() == Shape{2, 3});
}

TEST_CASE("Identity returns its argument") {
  const Tensor x = ones({2}).requires_grad_();
  CHECK(nn::Identity()(x).impl() == x.impl());
  CHECK(nn::Identity().repr() == "Identity()");
}
