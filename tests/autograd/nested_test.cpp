// What users nest as deep as they like: backwards in backwards, checkpoints, chains of gradients.
#include <functional>

#include <tend/autograd/graph/hooks.h>
#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/function.h>

#include "tests/autograd/support.h"
#include "tests/sanitizers.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// The identity, whose backward runs a backward, whose backward runs one, `depth` times.
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

TEST_CASE("10000 backwards run in one another") {
  const Tensor x = leaf({1.0});
  Nested(kDepth).apply(x).backward();
  CHECK(values(x.grad()) == V{kDepth + 1});
}

TEST_CASE("an exception comes back from a backward deep in others") {
  const Tensor x = leaf({1.0});
  int left = kDepth / 3;
  std::function<void()> go_deeper = [&] {
    if (--left == 0) throw std::runtime_error("deep down");
    const GradModeGuard recorded(true);
    const Tensor inner = leaf({1.0});
    inner.register_hook([&](const Tensor&) { go_deeper(); });
    (inner * 2).backward();
  };
  CHECK_THROWS_WITH(go_deeper(), "deep down");
  CHECK(left == 0);
  constexpr int kThird = kDepth / 3;
  Nested(kThird).apply(x).backward();
  CHECK(values(x.grad()) == V{kThird + 1});
}

TEST_CASE("backwards that nest beyond every stack are an error that names the limit", "[slow]") {
  const Tensor x = leaf({1.0});
  CHECK_THROWS_WITH(Nested(10'000'000).apply(x).backward(),
                    Catch::Matchers::ContainsSubstring("calls are nested too deep"));
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("checkpoints nest 10000 deep, and are computed again as deep") {
  std::function<Tensor(const Tensor&, int)> nest = [&](const Tensor& x, int depth) -> Tensor {
    if (depth == 0) return x.sin();
    return autograd::checkpoint([&, depth](const Tensor& y) { return nest(y, depth - 1); }, x);
  };
  const Tensor x = leaf({0.5});
  const Tensor y = nest(x, kDepth);
  y.backward();
  CHECK(values(x.grad()) == values(x.detach().cos()));
}

TEST_CASE("gradients of gradients, and hooks that hold tensors with hooks, end without recursion") {
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

TEST_CASE("any number of node hooks is called without recursion") {
  std::int64_t calls = 0;
  std::vector<std::unique_ptr<autograd::NodeHook>> hooks;
  hooks.reserve(10 * std::size_t{kDepth});
  for (int i = 0; i < 10 * kDepth; ++i) {
    hooks.push_back(
        std::make_unique<autograd::NodeHook>([&](const Node&, std::span<Tensor>) { ++calls; }));
  }
  (leaf({1.0}) * 2).backward();
  CHECK(calls == std::int64_t{10} * kDepth);
  while (!hooks.empty()) hooks.pop_back();
}
