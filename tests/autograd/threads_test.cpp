// Several threads differentiate at the same time. Run these tests under the thread sanitizer, too.
#include <thread>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/node_hook.h>
#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/function.h>
#include <tend/autograd/tools/graph.h>
#include <tend/core/array/print.h>

#include "tests/autograd/support.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

constexpr int kThreads = 4;
constexpr int kRepetitions = 50;

}  // namespace

TEST_CASE("threads differentiate graphs of their own") {
  std::vector<V> gradients(kThreads);
  together(kThreads, [&](int i) {
    for (int round = 0; round < kRepetitions; ++round) {
      const Tensor x = leaf({1, 2, 3});
      (x * x * i).sum().backward();
      gradients[static_cast<std::size_t>(i)] = values(x.grad());
    }
  });
  for (int i = 0; i < kThreads; ++i) {
    CHECK(gradients[static_cast<std::size_t>(i)] == V{2.0 * i, 4.0 * i, 6.0 * i});
  }
}

TEST_CASE("threads add to the gradients of shared leaves") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor w = leaf({1, 1, 1});
  together(kThreads, [&](int) {
    for (int round = 0; round < kRepetitions; ++round) (x * x * w).sum().backward();
  });
  constexpr double kCount = kThreads * kRepetitions;
  CHECK(values(x.grad()) == V{2 * kCount, 4 * kCount, 6 * kCount});
  CHECK(values(w.grad()) == V{kCount, 4 * kCount, 9 * kCount});
}

TEST_CASE("threads add products to the gradients of shared leaves") {
  const Tensor w = ones({64, 80}, float64).requires_grad_();
  const Tensor x = ones({2, 80}, float64);
  together(kThreads, [&](int) {
    for (int round = 0; round < kRepetitions; ++round) linear(x, w, {}).sum().backward();
  });
  CHECK(equal(w.grad(), full({64, 80}, 2.0 * kThreads * kRepetitions, float64)));
}

namespace {

struct Doubled : autograd::Function<Doubled> {
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 2; }
  static Tensor backward(const autograd::FunctionContext&, const Tensor& grad) { return grad * 2; }
};
struct Thrice : autograd::Function<Thrice> {
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * 3; }
  static Tensor backward(const autograd::FunctionContext&, const Tensor& grad) { return grad * 3; }
};

}  // namespace

TEST_CASE("threads read one tensor and its graph") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = Thrice().apply(x * x);
  together(kThreads, [&](int i) {
    for (int round = 0; round < kRepetitions; ++round) {
      if (to_string(y).empty() || autograd::graph_text({y}).empty()) throw 1;
      const Tensor z = i % 2 == 0 ? Doubled().apply(y) : Thrice().apply(y.view({3, 1}));
      if (!z.requires_grad() || y.detach().sum().item<double>() != 42) throw 2;
    }
  });
  CHECK(autograd::node_names({y}).count("ThriceBackward") == 1);
}

TEST_CASE("a thread may destroy tensors that the graph of another thread refers to") {
  for (int round = 0; round < kRepetitions; ++round) {
    Tensor x = leaf({1, 2, 3});
    Tensor y = x * x;
    y.retain_grad();
    Tensor z = y.sum();
    together(2, [&](int i) {
      if (i == 0) {
        z.backward();
      } else {
        x = {};
        y = {};
      }
    });
  }
  SUCCEED();
}

TEST_CASE("modes and hooks belong to the thread") {
  const NoGradGuard no_grad;
  const autograd::DetectAnomaly anomaly;
  int calls = 0;
  const autograd::NodeHook hook([&](const Node&, std::span<Tensor>) { ++calls; });
  bool enabled = false, detects = true;
  std::thread([&] {
    enabled = grad_enabled();
    detects = autograd::DetectAnomaly::is_on();
    const Tensor x = leaf({1, 2});
    (x * x).sum().backward();
  }).join();
  CHECK(enabled);
  CHECK_FALSE(detects);
  CHECK(calls == 0);
  CHECK_FALSE(grad_enabled());
}
