// How tensors print. tests/core tests how their elements print.
#include <sstream>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("a printed tensor shows its dtype, requires_grad and grad_fn") {
  const Tensor x = tensor({1., 2.});
  CHECK(to_string(x) == "tensor([1., 2.])");
  Tensor leaf = tensor({1., 2.}, float64).requires_grad_();
  CHECK(to_string(leaf) == "tensor([1., 2.], dtype=torch.float64, requires_grad=True)");
  CHECK(to_string(leaf * 2) == "tensor([2., 4.], dtype=torch.float64, grad_fn=<MulBackward0>)");
  CHECK(to_string((leaf * 2).detach()) == "tensor([2., 4.], dtype=torch.float64)");
  const NoGradGuard no_grad;
  CHECK(to_string(leaf * 2) == "tensor([2., 4.], dtype=torch.float64)");
}

TEST_CASE("parameters and undefined tensors print as in PyTorch") {
  Tensor weight = Tensor(zeros({2})).requires_grad_();
  weight.impl()->is_parameter = true;
  std::ostringstream out;
  out << weight << '\n' << weight.grad();
  CHECK(out.str() ==
        "Parameter containing:\n"
        "tensor([0., 0.], requires_grad=True)\n"
        "None");
}
