// Leaves whose elements are replaced while they have a gradient or are part of a graph.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

}  // namespace

TEST_CASE("a gradient that does not fit the new elements of a leaf is an error") {
  Tensor x = leaf({{1, 2}, {3, 4}});
  const Tensor other = leaf({5.0}), sum = x.sum() + other.sum();
  SECTION("the leaf was given elements of another shape") {
    x.set_data(zeros({3}, float64));
    CHECK_THROWS_AS(sum.backward(), ShapeError);
    CHECK_FALSE(x.grad().defined());
    CHECK_FALSE(other.grad().defined());
    x.sum().backward();
    CHECK(x.grad().shape() == x.shape());
  }
  SECTION("gradients of other leaves can still be computed") {
    x.set_data(zeros({3}, float64));
    CHECK(values(autograd::grad({sum}, {other})[0]) == V{1});
  }
  SECTION("a destroyed leaf needs no gradient") {
    x = Tensor();
    CHECK_NOTHROW(sum.backward());
    CHECK(values(other.grad()) == V{1});
  }
}

TEST_CASE("backward does not add to a retained gradient that no longer fits") {
  const Tensor x = leaf({{1, 2, 3}, {4, 5, 6}});
  Tensor y = x + 2;
  y.retain_grad();
  y.sum().backward();
  y.t_();
  CHECK_THROWS_AS(y.sum().backward(), ShapeError);
  CHECK(y.grad().shape() == Shape{2, 3});
  y.zero_grad();
  y.sum().backward();
  CHECK(y.grad().shape() == Shape{3, 2});
}

TEST_CASE("set_grad refuses a gradient that leads back to the tensor") {
  Tensor x = leaf({1, 2}), y = leaf({3, 4}), z = leaf({5, 6});
  CHECK_THROWS_AS(x.set_grad(x), AutogradError);
  CHECK_THROWS_AS(x.set_grad(x.view({2})), AutogradError);
  y.set_grad(x);
  z.set_grad(y);
  CHECK_THROWS_AS(x.set_grad(z), AutogradError);
  CHECK_FALSE(x.grad().defined());
  CHECK_NOTHROW(x.set_grad(x.detach()));
  CHECK_THROWS_AS(x.set_grad(tensor({1, 2, 3}, float64)), ShapeError);
  CHECK_THROWS_AS(x.set_grad(tensor({1.0, 2.0})), DTypeError);
  const std::int64_t before = live_memory();
  {
    Tensor own = leaf({1, 2});
    CHECK_THROWS_AS(own.set_grad(own), AutogradError);
  }
  CHECK(live_memory() == before);
}
