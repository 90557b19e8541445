#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("a comparison accepts a number on either side") {
  const Tensor x = tensor({1, 2, 3});
  CHECK((x == 2).equal(tensor({false, true, false})));
  CHECK((2 == x).equal(tensor({false, true, false})));
  CHECK((x != 2).equal(2 != x));
  CHECK((x < 2).equal(tensor({true, false, false})));
  CHECK((2 < x).equal(tensor({false, false, true})));
  CHECK((x <= 2).equal(2 >= x));
  CHECK((2 <= x).equal(tensor({false, true, true})));
  CHECK((x > 2).equal(2 < x));
  CHECK((2 > x).equal(tensor({true, false, false})));
  CHECK((x >= 2).equal(2 <= x));
  CHECK(x.lt(2).equal(x < 2));
  CHECK(x.ge(tensor(2)).equal(x >= 2));
}

TEST_CASE("comparisons promote dtypes and do not truncate 1.5 to an integer") {
  CHECK((tensor({1, 2}) == 1.5).equal(tensor({false, false})));
  CHECK((tensor({1, 2}) < 1.5).equal(tensor({true, false})));
  CHECK((tensor({true, false}) == 0).equal(tensor({false, true})));
  CHECK((tensor({1.}, float64) == tensor({1.})).dtype() == boolean);
}

TEST_CASE("isclose multiplies rtol by the second tensor") {
  const Tensor a = tensor({1., 1.1, kInf, kInf, kNaN, 1e9});
  const Tensor b = tensor({1., 1.0, kInf, -kInf, kNaN, kInf});
  CHECK(isclose(a, b).equal(tensor({true, false, true, false, false, false})));
  CHECK(isclose(a, b, 0.2).equal(tensor({true, true, true, false, false, false})));
  CHECK(isclose(a, b, 0, 0, true).equal(tensor({true, false, true, false, true, false})));
  CHECK(isclose(tensor({10.}), tensor({11.}), 0.095, 0).item<bool>());
  CHECK_FALSE(isclose(tensor({11.}), tensor({10.}), 0.095, 0).item<bool>());
  CHECK(isclose(tensor({1000000}), tensor({1000009})).item<bool>());
  CHECK_FALSE(isclose(tensor({true}), tensor({false})).item<bool>());
}

TEST_CASE("allclose refuses mixed dtypes and negative tolerances") {
  CHECK(allclose(ones({2, 2}), ones({2})));
  CHECK(allclose(ones({0}), ones({0})));
  CHECK_FALSE(tensor({1., 2.}).allclose(tensor({1., 3.})));
  CHECK_THROWS_MATCHES(allclose(ones({2}), ones({2}, float64)), DTypeError,
                       says("[isclose] the dtypes differ: float32 and float64"));
  CHECK_THROWS_MATCHES(
      allclose(ones({2}), ones({2}), -1), Error,
      says("[isclose] the tolerances must not be negative: rtol = -1, atol = 1e-08"));
  CHECK_THROWS_AS(isclose(ones({2}), ones({2}), 0, -1), Error);
  CHECK_THROWS_AS(isclose(ones({2}), ones({2}), kNaN), Error);
  CHECK_THROWS_AS(isclose(ones({2}), ones({2}), 0, kNaN), Error);
  CHECK_THROWS_AS(allclose(ones({2}), ones({3})), ShapeError);
  const Tensor x = tensor({1.}).requires_grad_();
  CHECK_FALSE(isclose(x, x).requires_grad());
}

TEST_CASE("masks are combined with C++'s operators") {
  const Tensor x = tensor({1, 2, 3, 4});
  CHECK(((x > 1) & (x < 4)).equal(tensor({false, true, true, false})));
  CHECK(((x < 2) | (x == 4)).equal(tensor({true, false, false, true})));
  CHECK(((x > 1) ^ (x > 2)).equal(tensor({false, true, false, false})));
  CHECK((~(x > 1)).equal(x <= 1));
  CHECK((true & (x > 2)).equal(x > 2));
  CHECK((x & 1).equal(tensor({1, 0, 1, 0})));
  CHECK((6 ^ x).equal(x ^ 6));
  CHECK((~x).equal(-x - 1));
  CHECK(((x > 2) | 2).dtype() == int64);
  const Tensor mask = x > 1;
  mask &= x < 4;
  mask |= x == 1;
  mask ^= tensor({true, false, false, false});
  CHECK(mask.equal(tensor({false, true, true, false})));
  CHECK_THROWS_MATCHES(x & 0.5, DTypeError, says("[bitwise_and] needs bool or int64, got float32"));
}

TEST_CASE("in-place comparisons write ones and zeros of the tensor's dtype and stop the gradient") {
  const Tensor x = tensor({-1, 0, 2}, float64).requires_grad_();
  const Tensor y = x * 2, z = x * 3, w = x * 1;
  CHECK(same(y.lt_(tensor({0, 1, 1}, float64)), {1, 1, 0}));
  CHECK(y.dtype() == float64);
  CHECK(std::string(y.grad_fn()) == "LtBackward1");
  CHECK(same(z.ge_(0), {0, 1, 1}));
  CHECK(same(w.logical_not_(), {0, 1, 0}));
  (y + z * x + w).sum().backward();
  CHECK(same(x.grad(), {0, 1, 1}));
  // The gradient of the other tensor is 0, as in PyTorch, even if self had no grad_fn.
  const Tensor other = tensor({-1}, float64).requires_grad_(), plain = tensor({-1, 0}, float64);
  plain.eq_(other);
  CHECK(same(plain, {1, 0}));
  plain.sum().backward();
  CHECK(same(other.grad(), {0}));
}

TEST_CASE("equal compares shapes and numbers but not dtypes") {
  CHECK(equal(tensor({1, 2}), tensor({1., 2.})));
  CHECK(equal(zeros({0}), zeros({0})));
  CHECK_FALSE(equal(ones({2}), ones({2, 1})));
  CHECK_FALSE(equal(tensor({kNaN}), tensor({kNaN})));
  CHECK_FALSE(equal(tensor({1, 2}), tensor({1, 3})));
}
