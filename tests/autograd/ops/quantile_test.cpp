#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("quantile sends a gradient to q between two elements") {
  const Tensor q = tensor({0.3, 1.0}).requires_grad_(), x = tensor({1., 2., 4.}).requires_grad_();
  const Tensor found = quantile(x, q);
  CHECK(found.to_vector<float>() == quantile(x, q.detach()).to_vector<float>());
  found.sum().backward();
  CHECK(values(q.grad()) == std::vector<double>{2, 0});  // as in PyTorch
  CHECK(x.grad().allclose(tensor({0.4, 0.6, 1.})));
  const Tensor half = tensor(0.5).requires_grad_();
  quantile(x.detach(), half).backward();
  CHECK(half.grad().item() == 0);  // the quantile is exactly an element
  CHECK_FALSE(quantile(x.detach(), half, std::nullopt, false, "midpoint").requires_grad());
}

TEST_CASE("a row with NaN does not affect the gradient of q from other rows") {
  const Tensor q = tensor(0.75).requires_grad_();
  const Tensor x = tensor({{1., 2., kNaN}, {1., 2., 4.}}).requires_grad_();
  const Tensor found = quantile(x, q, 1);
  CHECK(std::isnan(found[0].item<float>()));
  found[1].backward();
  CHECK(q.grad().item() == 4);  // (4 - 2) * (3 - 1)
  CHECK(values(x.grad()) == std::vector<double>{0, 0, 0, 0, 0.5, 0.5});
}
