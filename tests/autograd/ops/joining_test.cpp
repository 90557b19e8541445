#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("cat joins tensors and sends each its part of the gradient") {
  Tensor a = tensor({{1., 2.}}).requires_grad_();
  Tensor b = tensor({{3., 4.}, {5., 6.}}).requires_grad_();
  const Tensor joined = cat({a, b});
  CHECK(joined.shape() == Shape{3, 2});
  CHECK(values(joined) == std::vector<double>{1, 2, 3, 4, 5, 6});
  (joined * joined).sum().backward();
  CHECK(values(a.grad()) == std::vector<double>{2, 4});
  CHECK(values(b.grad()) == std::vector<double>{6, 8, 10, 12});
  CHECK(cat({b, b}, -1).shape() == Shape{2, 4});
}

TEST_CASE("cat promotes dtypes and converts gradients back") {
  Tensor a = tensor({1., 2.}).requires_grad_();
  const Tensor joined = cat({a, tensor({3.}, float64), tensor({4})});
  CHECK(joined.dtype() == float64);
  joined.sum().backward();
  CHECK(a.grad().dtype() == float32);
}

TEST_CASE("cat ignores 1-d tensors without elements") {
  Tensor nothing = Tensor(zeros({0})).requires_grad_();
  const Tensor x = ones({2, 2});
  const Tensor joined = cat({nothing, x, x}, 1);
  CHECK(joined.shape() == Shape{2, 4});
  joined.sum().backward();
  CHECK(nothing.grad().shape() == Shape{0});  // as in PyTorch
  CHECK(cat({nothing, nothing}).shape() == Shape{0});
}

TEST_CASE("cat names the tensors and the dimension that do not fit") {
  CHECK_THROWS_MATCHES(cat({zeros({2, 3}), zeros({2, 4})}), ShapeError,
                       says("[cat] (2, 3) and (2, 4) (tensor 1) may differ only in dimension 0, "
                            "but dimension 1 is 3 and 4"));
  CHECK_THROWS_MATCHES(cat({zeros({2, 3}), zeros({3})}), ShapeError,
                       says("[cat] (2, 3) and (3,) (tensor 1) have different ranks"));
  CHECK_THROWS_MATCHES(cat({zeros({1}), zeros({})}), ShapeError,
                       says("[cat] tensor 1 has no dimension to join along"));
  CHECK_THROWS_AS(cat({zeros({1})}, 1), IndexError);
  CHECK_THROWS_MATCHES(
      cat({zeros({1}), Tensor()}), AutogradError,
      says("[tensor] the tensor is undefined: it was given no value, or moved from"));
  CHECK_THROWS_AS(cat({}), ShapeError);
}

TEST_CASE("stack joins along a new dimension, which may be the last") {
  Tensor a = tensor({1., 2.}).requires_grad_();
  const Tensor b = tensor({3., 4.});
  CHECK(values(stack({a, b})) == std::vector<double>{1, 2, 3, 4});
  const Tensor columns = stack({a, b}, -1);
  CHECK(values(columns) == std::vector<double>{1, 3, 2, 4});
  (columns * tensor({{1., 2.}, {3., 4.}})).sum().backward();
  CHECK(values(a.grad()) == std::vector<double>{1, 3});
  CHECK(stack({tensor(1.), tensor(2.)}).shape() == Shape{2});
  CHECK_THROWS_MATCHES(stack({a, zeros({3})}), ShapeError,
                       says("[stack] all tensors must have one shape: the first has (2,), tensor 1 "
                            "has (3,)"));
  CHECK_THROWS_AS(stack({a, b}, 2), IndexError);
}

TEST_CASE("chunk refuses more empty chunks than fit in memory") {
  const Tensor x = zeros({0, 4});
  CHECK(x.chunk(1000).size() == 1000);
  CHECK_THROWS_MATCHES(x.chunk(std::int64_t{1} << 40), OutOfMemoryError,
                       says("[chunk] no room for 1099511627776 tensors"));
  CHECK_THROWS_AS(x.chunk(std::numeric_limits<std::int64_t>::max()), OutOfMemoryError);
}
