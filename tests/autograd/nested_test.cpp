// Nested backward calls, nested checkpoints, and long chains of gradients.
#include <cmath>
#include <functional>

#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/function.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using V = std::vector<double>;

// The identity. Its backward calls backward on another Nested. The calls are `depth` levels deep.
struct Nested : autograd::Function<Nested> {
  explicit Nested(int levels) : depth(levels) {}
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 1; }
  Tensor backward(const autograd::FunctionContext&, const Tensor& grad) const {
    if (depth == 0) return grad;
    const GradModeGuard recorded(true);
    const Tensor inner = leaf({1.0});
    if (depth % 2 == 0) {
      Nested(depth - 1).apply(inner).backward();
      return grad + inner.grad();
    }
    return grad + autograd::grad({Nested(depth - 1).apply(inner)}, {inner})[0];
  }
  int depth;
};

}  // namespace

TEST_CASE("backward calls can be nested and too many levels are an error") {
  constexpr int kFits = 100;
  const Tensor x = leaf({1.0}), y = leaf({1.0});
  Nested(kFits).apply(x).backward();
  CHECK(values(x.grad()) == V{kFits + 1});
  CHECK_THROWS_WITH(Nested(100'000).apply(y).backward(), ContainsSubstring("calls are nested"));
  CHECK_FALSE(y.grad().defined());
  Nested(kFits).apply(y).backward();
  CHECK(values(y.grad()) == V{kFits + 1});
}

TEST_CASE("checkpoints nest") {
  std::function<Tensor(const Tensor&, int)> nest = [&](const Tensor& x, int depth) -> Tensor {
    if (depth == 0) return x.sin();
    return autograd::checkpoint([&, depth](const Tensor& y) { return nest(y, depth - 1); }, x);
  };
  const Tensor x = leaf({0.5});
  const Tensor y = nest(x, 20);
  y.backward();
  CHECK(values(x.grad()) == values(x.detach().cos()));
}

TEST_CASE("the hook of a leaf runs as soon as its gradient is complete") {
  const Tensor early = leaf({1, 2}), late = leaf({3, 4}), twice = leaf({5, 6});
  const Tensor middle = early * twice;
  const Tensor end = (middle * late * twice).sum();
  std::string order;
  const auto record_hook = [&order](const Tensor& x, const char* name) {
    x.register_hook([&order, name](const Tensor&) { order += name; });
  };
  record_hook(early, "early ");
  record_hook(twice, "twice ");
  record_hook(late, "late ");
  record_hook(middle, "middle ");
  end.backward();
  CHECK(order == "late middle early twice ");
  CHECK(values(twice.grad()) == V{30, 96});
  order.clear();
  autograd::grad({(late * late * twice).sum()}, {late});
  CHECK(order == "late ");
}

namespace {}  // namespace

TEST_CASE("long chains of gradients, and of hooks that own tensors with hooks, are freed") {
  const std::int64_t before = live_memory();
  {
    Tensor chain = zeros({1}, float64);
    for (int i = 0; i < 200'000; ++i) {
      Tensor next = zeros({1}, float64);
      next.set_grad(chain);
      chain = next;
    }
    Tensor held = leaf({1.0});
    for (int i = 0; i < 200'000; ++i) {
      const Tensor next = leaf({1.0});
      next.register_hook([held](const Tensor&) { static_cast<void>(held); });
      held = next;
    }
  }
  CHECK(live_memory() == before);
}
