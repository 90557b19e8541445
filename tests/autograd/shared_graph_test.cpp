// Several backwards through one graph: on several threads, and one within another. Run under the
// thread sanitizer, too.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include <tend/autograd/graph/hooks.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/tools/function.h>

#include "tests/autograd/support.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using V = std::vector<double>;

constexpr int kRounds = 100;
constexpr const char* kFreed = "the graph was freed by an earlier backward";
constexpr const char* kInUse = "another backward, which is not over, needs the graph";

// x * x, and then a long chain that saves much and leaves it as it is.
Tensor long_chain(const Tensor& x) {
  Tensor y = x * x;
  for (int i = 0; i < 30; ++i) y = (y * 2).exp().log() / 2;
  return y;
}

// How many of the calls end well; the others must end with an AutogradError that says why.
int successes(const std::vector<std::function<void()>>& calls) {
  std::atomic<int> good = 0;
  together(static_cast<int>(calls.size()), [&](int i) {
    try {
      calls[static_cast<std::size_t>(i)]();
      ++good;
    } catch (const AutogradError& error) {
      const std::string text = error.what();
      if (text.find(kFreed) == std::string::npos && text.find(kInUse) == std::string::npos) throw;
    }
  });
  return good;
}

// Where a backward stops until another thread has gone on.
class Stop {
 public:
  void reach() {
    std::unique_lock lock(mutex_);
    is_reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return may_go_on_; });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_reached_; });
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    may_go_on_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_reached_ = false, may_go_on_ = false;
};

}  // namespace

TEST_CASE(
    "Of threads that go backward through one graph, one frees it and the others get an error") {
  const int threads = GENERATE(2, 3);
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor y = long_chain(x).sum();
    const std::vector<std::function<void()>> calls(static_cast<std::size_t>(threads),
                                                   [&] { y.backward(); });
    REQUIRE(successes(calls) == 1);
    REQUIRE(values(x.grad())[1] == Approx(4));
    REQUIRE_THROWS_WITH(y.backward(), ContainsSubstring(kFreed));
  }
}

TEST_CASE("Of grad and backward through one graph on two threads, one gets the error") {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor y = long_chain(x).sum();
    REQUIRE(successes({[&] { y.backward(); }, [&] { autograd::grad({y}, {x}); }}) == 1);
  }
}

TEST_CASE("Where one thread retains the graph and another frees it, both end well or one does") {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor y = long_chain(x).sum();
    const int good = successes({[&] { y.backward({}, true); }, [&] { y.backward(); }});
    REQUIRE((good == 1 || good == 2));
    REQUIRE(values(x.grad())[1] == Approx(4 * good));
  }
}

TEST_CASE("Of threads whose graphs have a part in common, the first frees that") {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor trunk = long_chain(x), a = (trunk * trunk).sum(), b = long_chain(trunk).sum();
    REQUIRE(successes({[&] { a.backward(); }, [&] { b.backward(); }}) == 1);
  }
}

TEST_CASE("Threads may free graphs that have in common only what saves nothing") {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor trunk = (x + 1).view({2, 1}).sum(0);
    const Tensor a = long_chain(trunk), b = long_chain(trunk);
    REQUIRE(successes({[&] { a.backward(); }, [&] { b.backward(); }}) == 2);
  }
}

TEST_CASE("A backward that would free what another thread needs is refused, and changes nothing") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = (y * y).sum();
  Stop stop;
  HookHandle hook = y.register_hook([&](const Tensor&) { stop.reach(); });
  std::thread other([&] { z.backward({}, true); });
  stop.wait();
  CHECK_THROWS_WITH(z.backward(), ContainsSubstring(kInUse));
  CHECK_THROWS_WITH(autograd::grad({z}, {y}), ContainsSubstring(kInUse));
  CHECK_FALSE(x.grad().defined());
  CHECK(values(autograd::grad({z * 1}, {z}, {}, {.retain_graph = true})[0]) == V{1});
  stop.go_on();
  other.join();
  CHECK(values(x.grad()) == V{4, 32});
  hook.remove();
  z.backward();
  CHECK(values(x.grad()) == V{8, 64});
}

TEST_CASE(
    "A backward through what another thread is about to free is refused, and so is the next") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = (y * y).sum();
  Stop stop;
  HookHandle hook = y.register_hook([&](const Tensor&) { stop.reach(); });
  std::thread other([&] { z.backward(); });
  stop.wait();
  CHECK_THROWS_WITH(z.backward({}, true), ContainsSubstring(kFreed));
  CHECK_THROWS_WITH(y.sum().backward({}, true), ContainsSubstring(kFreed));
  stop.go_on();
  other.join();
  CHECK(values(x.grad()) == V{4, 32});
}

TEST_CASE("A backward that fails leaves what it did not come to") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = y.exp(), w = (z * z).sum();
  HookHandle hook = z.register_hook([](const Tensor&) { throw 1; });
  CHECK_THROWS_AS(w.backward(), int);
  CHECK_FALSE(x.grad().defined());
  hook.remove();
  CHECK_THROWS_WITH(w.backward(), ContainsSubstring("[mul] the graph was freed"));
  z.sum().backward();
  CHECK(values(x.grad())[0] == Approx(2 * std::exp(1)));
}

TEST_CASE("A backward that fails behind a node that it freed leaves that freed") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = (y * y).sum();
  {
    const autograd::NodeHook hook([](const Node& node, std::span<Tensor> gradients) {
      if (std::string(node.grad_fn()) == "MulBackward0") gradients[0] = zeros({7}, float64);
    });
    CHECK_THROWS_AS(z.backward(), ShapeError);
  }
  CHECK_THROWS_WITH(z.backward(), ContainsSubstring(kFreed));
  y.sum().backward();
  CHECK(values(x.grad()) == V{2, 4});
}

TEST_CASE("What a backward needs and no gradient reached can be used again") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x;
  struct Nothing : autograd::Function<Nothing> {
    static Tensor forward(autograd::FunctionContext&, const Tensor& a) { return a * 1; }
    static Tensor backward(const autograd::FunctionContext&, const Tensor&) { return {}; }
  };
  Nothing().apply(y).sum().backward();
  y.sum().backward();
  CHECK(values(x.grad()) == V{2, 4});
}

TEST_CASE("A hook may go backward through what is still to come, and retain it") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, y_sum = y.sum();
  const bool retains = GENERATE(false, true);
  V inner;
  HookHandle once;
  once = y.register_hook([&](const Tensor&) {
    once.remove();  // the inner one would call it again
    inner = values(autograd::grad({y_sum}, {x}, {}, {.retain_graph = true})[0]);
  });
  (y * y).sum().backward({}, retains);
  CHECK(inner == V{2, 4});
  CHECK(values(x.grad()) == V{4, 32});
}

TEST_CASE("A hook may not free what is still to come") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, y_sum = y.sum(), z = (y * y).sum();
  const bool retains = GENERATE(false, true);
  std::string text;
  y.register_hook([&](const Tensor&) {
    try {
      y_sum.backward();
    } catch (const AutogradError& error) {
      text = error.what();
    }
  });
  z.backward({}, retains);
  CHECK_THAT(text, ContainsSubstring(kInUse));
  CHECK(values(x.grad()) == V{4, 32});
}

TEST_CASE("A hook may free what is over") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = y * y, w = z.exp().sum();
  bool called = false;
  y.register_hook([&](const Tensor&) {
    if (std::exchange(called, true)) return;
    autograd::grad({w}, {z});
  });
  w.backward({}, true);
  CHECK(values(x.grad())[0] == Approx(4 * std::exp(1)));
  CHECK_THROWS_WITH(w.backward(), ContainsSubstring("[exp] the graph was freed"));
  // The rest is as it was.
  CHECK_NOTHROW(z.sum().backward({}, true));
  CHECK_NOTHROW(z.sum().backward());
  CHECK_THROWS_WITH(z.sum().backward(), ContainsSubstring(kFreed));
}

TEST_CASE("A hook of a leaf may free the graph of the backward that it belongs to") {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  int calls = 0;
  x.register_hook([&](const Tensor&) {
    if (calls++ == 0) y.backward();
  });
  y.backward({}, true);
  CHECK(calls == 2);
  CHECK(values(x.grad()) == V{4, 8});
  CHECK_THROWS_WITH(y.backward(), ContainsSubstring(kFreed));
}

TEST_CASE("The hook of a leaf runs as soon as its gradient is complete") {
  const Tensor early = leaf({1, 2}), late = leaf({3, 4}), twice = leaf({5, 6});
  const Tensor middle = early * twice;
  const Tensor end = (middle * late * twice).sum();
  std::string order;
  const auto note = [&order](const Tensor& x, const char* name) {
    x.register_hook([&order, name](const Tensor&) { order += name; });
  };
  note(early, "early ");
  note(twice, "twice ");
  note(late, "late ");
  note(middle, "middle ");
  end.backward();
  CHECK(order == "late middle early twice ");
  CHECK(values(twice.grad()) == V{30, 96});
  order.clear();
  autograd::grad({(late * late * twice).sum()}, {late});
  CHECK(order == "late ");
}

namespace {

// Goes backward through the graph that it is itself a part of, once.
struct Reentrant : autograd::Function<Reentrant> {
  static Tensor forward(autograd::FunctionContext& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * 1;
  }
  static Tensor backward(const autograd::FunctionContext& context, const Tensor& grad) {
    const bool frees = free_it;
    if (std::exchange(again, false)) {
      autograd::grad({result}, {input}, {}, {.retain_graph = !frees});
    }
    return grad * context.saved(0);
  }
  inline static Tensor result, input;
  inline static bool again = true, free_it = false;
};

}  // namespace

TEST_CASE("A Function may go backward through its own graph, and retain it") {
  const Tensor x = leaf({3, 4});
  for (const bool frees : {false, true}) {
    x.detach();
    Reentrant::input = x * x;
    Reentrant::result = Reentrant().apply(Reentrant::input).sum();
    Reentrant::again = true;
    Reentrant::free_it = frees;
    if (frees) {
      CHECK_THROWS_AS(Reentrant::result.backward(), AutogradError);
    } else {
      Reentrant::result.backward();
    }
    CHECK(values(x.grad()) == V{2 * 27, 2 * 64});
  }
  Reentrant::input = Reentrant::result = Tensor();
}
