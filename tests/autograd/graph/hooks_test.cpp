// Hooks on tensors. The tests of hooks on modules are in tests/nn.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

}  // namespace

TEST_CASE("A hook sees the whole gradient of a leaf once, before it is added") {
  const Tensor x = leaf({1, 2});
  std::vector<V> seen;
  x.register_hook([&](const Tensor& gradient) {
    seen.push_back(values(gradient));
    CHECK_FALSE(x.grad().defined());
  });
  (x * 3 + x * x).sum().backward();
  CHECK(seen == std::vector<V>{{5, 7}});
  CHECK(values(x.grad()) == V{5, 7});
}

TEST_CASE("The result of a hook replaces the gradient") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor& gradient) { return gradient * 10; });
  x.register_hook([](const Tensor& gradient) { return gradient + 1; });
  (y * y).sum().backward();
  CHECK(values(x.grad()) == V{2 * 10 * 4 + 1, 2 * 10 * 8 + 1});
}

TEST_CASE("Hooks run in the order of registration and removed hooks do not run") {
  const Tensor x = leaf({3});
  std::string order;
  HookHandle first = x.register_hook([&](const Tensor&) { order += 'a'; });
  HookHandle second;
  second = x.register_hook([&](const Tensor&) {
    order += 'b';
    second.remove();
  });
  x.register_hook([&](const Tensor&) { order += 'c'; });
  (x * 1).sum().backward();
  first.remove();
  first.remove();
  (x * 1).sum().backward();
  CHECK(order == "abcc");
}

TEST_CASE("grad runs only the hooks of its inputs and of tensors on the way to them") {
  const Tensor x = leaf({1, 2}), other = leaf({5});
  const Tensor y = x * x;
  int elsewhere = 0;
  x.register_hook([](const Tensor& gradient) { return gradient * 100; });
  y.register_hook([](const Tensor& gradient) { return gradient + 1; });
  other.register_hook([&](const Tensor&) { ++elsewhere; });
  const Tensor z = (y * 3 + other).sum();
  CHECK(values(autograd::grad({z}, {x}, {}, {.retain_graph = true})[0]) == V{800, 1600});
  CHECK(values(autograd::grad({z}, {y})[0]) == V{4, 4});
  CHECK(elsewhere == 0);
}

TEST_CASE("A hook is differentiated if create_graph is true") {
  const Tensor x = leaf({2});
  x.register_hook([](const Tensor& gradient) { return gradient * gradient; });
  const Tensor slope = autograd::grad({(x * x * x).sum()}, {x}, {}, {.create_graph = true})[0];
  CHECK(values(slope) == V{144});  // (3 x^2)^2
  const Tensor y = x.detach().requires_grad_();
  const Tensor middle = y * 1;
  middle.register_hook([](const Tensor& gradient) { return gradient * gradient; });
  const Tensor first =
      autograd::grad({(middle * middle).sum()}, {y}, {}, {.create_graph = true})[0];
  CHECK(values(first) == V{16});  // (2 y)^2
  // The second derivative 8 y passes through the same hook: (8 y)^2.
  CHECK(values(autograd::grad({first.sum()}, {y})[0]) == V{256});
}

TEST_CASE("A hook that changes the shape or dtype is refused and so is a hook on a constant") {
  const Tensor x = leaf({1, 2});
  x.register_hook([](const Tensor& gradient) { return gradient.sum(); });
  CHECK_THROWS_MATCHES((x * 2).sum().backward(), ShapeError,
                       says("[register_hook] a hook must return a gradient of shape (2,), but "
                            "returned shape ()"));
  const Tensor z = leaf({1, 2});
  z.register_hook([](const Tensor& gradient) { return gradient.to(int64); });
  CHECK_THROWS_MATCHES((z * 2).sum().backward(), DTypeError,
                       says("[register_hook] a hook must return a gradient of dtype float64, but "
                            "returned int64"));
  CHECK_FALSE(z.grad().defined());
  CHECK_THROWS_MATCHES(tensor({1.0}).register_hook([](const Tensor&) {}), AutogradError,
                       says("[register_hook] the tensor does not require grad"));
}

TEST_CASE("detach_ turns a tensor into a leaf and refuses views") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  y.detach_();
  CHECK(y.is_leaf());
  CHECK_FALSE(y.requires_grad());
  CHECK_FALSE((y * 3).requires_grad());
  x.detach_();
  CHECK_FALSE(x.requires_grad());
  const Tensor z = leaf({1, 2}) * 2;
  CHECK_THROWS_MATCHES(z[0].detach_(), AutogradError,
                       says("[detach_] cannot detach a view in place, because it shares the "
                            "history of its base; use detach()"));
  CHECK(z.requires_grad());
}
