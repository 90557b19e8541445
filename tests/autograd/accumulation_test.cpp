// Gradients that add up: in whose memory, and that nobody's else is touched.
#include <tend/autograd/graph/node.h>
#include <tend/autograd/graph/node_hook.h>
#include <tend/autograd/tools/function.h>
#include <tend/core/kernels/elementwise/arithmetic.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// x, with a derivative that adds to what has arrived where it may; counts how often it did.
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

TEST_CASE("gradients that add up leave the given cotangent as it is") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor cotangent = tensor({1, 10, 100}, float64);
  (x + x).backward(cotangent);
  CHECK(values(x.grad()) == V{2, 20, 200});
  const Tensor y = x * 1;
  (y + y + y * 2 + y).backward(cotangent);
  CHECK(values(x.grad()) == V{7, 70, 700});
  CHECK(values(cotangent) == V{1, 10, 100});
}

TEST_CASE("gradients that add up leave what hooks have seen as it is") {
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

TEST_CASE("gradients add up the same in any layout, and become row-major") {
  for (const bool transposed_first : {true, false}) {
    const Tensor x = varied_leaf({3, 4}), a = varied_leaf({4, 3}).detach();
    const Tensor through = x.t() * a, plain = x * a.t();
    (transposed_first ? (plain + through.t()) : (through.t() + plain)).sum().backward();
    CHECK(values(x.grad()) == values(a.t() * 2));
    CHECK(x.grad().is_contiguous());
  }
  const Tensor b = varied_leaf({1, 4});
  (b.expand({3, 4}).sum() + (b * 2).sum()).backward();
  CHECK(values(b.grad()) == V{5, 5, 5, 5});
}

TEST_CASE("a derivative may add to what has arrived, where nobody else sees that") {
  const Tensor x = leaf({1, 2, 3});
  int times = 0;
  // Latest first: the product's gradient is there when the others come.
  const auto run = [&] {
    const Tensor first = adding_identity(x, times), second = adding_identity(x, times);
    return (first + second * 10 + x * 100).sum();
  };
  run().backward();
  CHECK(times == 2);
  CHECK(values(x.grad()) == V{111, 111, 111});
  CHECK(values(autograd::grad({run()}, {x})[0]) == V{111, 111, 111});
  CHECK(times == 4);

  SECTION("not where the gradients get a graph") {
    const Tensor gradient = autograd::grad({run()}, {x}, {}, {.create_graph = true})[0];
    CHECK(values(gradient) == V{111, 111, 111});
    CHECK(times == 4);
  }
  SECTION("not where hooks look on") {
    const autograd::NodeHook hook([](const Node&, std::span<Tensor>) {});
    CHECK(values(autograd::grad({run()}, {x})[0]) == V{111, 111, 111});
    CHECK(times == 4);
  }
  SECTION("not where what has arrived is somebody's") {
    const Tensor cotangent = tensor({1, 2, 3}, float64);
    const Tensor sum = adding_identity(x, times) + x;
    CHECK(values(autograd::grad({sum}, {x}, {cotangent})[0]) == V{2, 4, 6});
    CHECK(values(cotangent) == V{1, 2, 3});
    CHECK(times == 4);
  }
}
