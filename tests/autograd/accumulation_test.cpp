// Sums of gradients: which memory they are written to, and that no other memory changes.
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>
#include <tend/autograd/tools/function.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// The identity. Its derivative adds to the gradient accumulated so far if that is allowed. `times`
// counts these additions.
Tensor adding_identity(const Tensor& x, int& times) {
  return record("AddingBackward", x.array().clone(), {x}, {}, [&times](Derivative& d) {
    if (const Array* sum = d.sum(0)) {
      kernels::add(*sum, *sum, d.grad().array());
      ++times;
    } else {
      d.set(0, d.grad());
    }
  });
}

}  // namespace

TEST_CASE("summing gradients does not change the given cotangent") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor cotangent = tensor({1, 10, 100}, float64);
  (x + x).backward(cotangent);
  CHECK(values(x.grad()) == V{2, 20, 200});
  const Tensor y = x * 1;
  (y + y + y * 2 + y).backward(cotangent);
  CHECK(values(x.grad()) == V{7, 70, 700});
  CHECK(values(cotangent) == V{1, 10, 100});
}

TEST_CASE("summing gradients does not change the gradients that hooks saw") {
  const Tensor x = leaf({1, 2, 3});
  std::vector<Tensor> seen;
  std::vector<V> as_seen;
  const auto keep = [&](const Tensor& gradient) {
    seen.push_back(gradient);
    as_seen.push_back(values(gradient));
  };
  const Tensor y = x * 2;
  y.register_hook([&](const Tensor& gradient) { keep(gradient); });
  {
    const autograd::NodeHook hook([&](const Node&, std::span<Tensor> gradients) {
      for (const Tensor& gradient : gradients) {
        if (gradient.defined()) keep(gradient);
      }
    });
    (y * 2 + y * 3 + y.exp() * x + x * x).sum().backward();
  }
  x.grad();
  (x * 5).sum().backward();
  REQUIRE(seen.size() > 10);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(values(seen[i]) == as_seen[i]);
}

TEST_CASE("gradients of any layout have the same sum and the sum is row-major") {
  for (const bool transposed_first : {true, false}) {
    const Tensor x = irregular_leaf({3, 4}), a = irregular_leaf({4, 3}).detach();
    const Tensor through = x.t() * a, plain = x * a.t();
    (transposed_first ? (plain + through.t()) : (through.t() + plain)).sum().backward();
    CHECK(values(x.grad()) == values(a.t() * 2));
    CHECK(x.grad().is_contiguous());
  }
  const Tensor b = irregular_leaf({1, 4});
  (b.expand({3, 4}).sum() + (b * 2).sum()).backward();
  CHECK(values(b.grad()) == V{5, 5, 5, 5});
}

TEST_CASE("a derivative may add to the accumulated gradient if nobody else sees it") {
  const Tensor x = leaf({1, 2, 3});
  int times = 0;
  // The engine runs the latest node first, so the gradient of x * 100 arrives before the others.
  const auto run = [&] {
    const Tensor first = adding_identity(x, times), second = adding_identity(x, times);
    return (first + second * 10 + x * 100).sum();
  };
  run().backward();
  CHECK(times == 2);
  CHECK(values(x.grad()) == V{111, 111, 111});
  CHECK(values(autograd::grad({run()}, {x})[0]) == V{111, 111, 111});
  CHECK(times == 4);

  SECTION("with create_graph it does not add") {
    const Tensor gradient = autograd::grad({run()}, {x}, {}, {.create_graph = true})[0];
    CHECK(values(gradient) == V{111, 111, 111});
    CHECK(times == 4);
  }
  SECTION("with a node hook it does not add") {
    const autograd::NodeHook hook([](const Node&, std::span<Tensor>) {});
    CHECK(values(autograd::grad({run()}, {x})[0]) == V{111, 111, 111});
    CHECK(times == 4);
  }
  SECTION("it does not add to the caller's cotangent") {
    const Tensor cotangent = tensor({1, 2, 3}, float64);
    const Tensor sum = adding_identity(x, times) + x;
    CHECK(values(autograd::grad({sum}, {x}, {cotangent})[0]) == V{2, 4, 6});
    CHECK(values(cotangent) == V{1, 2, 3});
    CHECK(times == 4);
  }
}
