// Tests x.new_zeros and the other methods that create tensors.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the new_ methods use the dtype of their tensor") {
  const Tensor x = ones({2}, float64), whole = tensor({1, 2});
  CHECK(x.new_zeros({2, 3}).equal(zeros({2, 3}, float64)));
  CHECK(x.new_ones(3).equal(ones(3, float64)));
  CHECK(x.new_full({2}, 5).equal(full({2}, 5, float64)));
  CHECK(x.new_empty({0, 2}).shape() == Shape{0, 2});
  CHECK(x.new_empty({2}).dtype() == float64);
  CHECK(x.new_tensor({{1, 2}, {3, 4}}).equal(tensor({{1, 2}, {3, 4}}, float64)));
  CHECK(whole.new_tensor({1.5, 2.5}).equal(whole));
  CHECK(whole.new_tensor(std::vector<double>{1, 2}).equal(whole));
}

TEST_CASE("the new_ methods accept a dtype and options") {
  const Tensor x = tensor({1, 2});
  CHECK(x.new_zeros({2}, float32).equal(zeros({2})));
  CHECK(x.new_full({2}, 1.5, float64).equal(full({2}, 1.5, float64)));
  CHECK(x.new_tensor(1.5, float32).equal(tensor(1.5)));
  CHECK(x.new_ones({2}, {.dtype = float32, .requires_grad = true}).requires_grad());
  CHECK_FALSE(ones({2}, {.requires_grad = true}).new_zeros({2}).requires_grad());
}

TEST_CASE("errors name the function that makes the elements") {
  const Tensor x = tensor({1, 2});
  CHECK_THROWS_WITH(x.new_zeros({-1}), ContainsSubstring("[zeros] "));
  CHECK_THROWS_WITH(x.new_full({2}, kNaN), ContainsSubstring("[full] "));
  CHECK_THROWS_MATCHES(x.new_ones({2}, {.requires_grad = true}), DTypeError,
                       says("[ones] only floating tensors have gradients, not int64"));
  CHECK_THROWS_WITH(x.new_tensor(1, {.requires_grad = true}), ContainsSubstring("[tensor] "));
  CHECK_THROWS_AS(Tensor().new_empty({2}), AutogradError);
}
