// Threads that differentiate at the same time. Run under the thread sanitizer, too.
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// Runs f(0), f(1), ... on threads of their own that start together.
void together(int count, const std::function<void(int)>& f) {
  std::atomic<int> waiting{count};
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        f(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

constexpr int kThreads = 4;
constexpr int kRounds = 50;

}  // namespace

TEST_CASE("threads differentiate graphs of their own") {
  std::vector<V> gradients(kThreads);
  together(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
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
    for (int round = 0; round < kRounds; ++round) (x * x * w).sum().backward();
  });
  constexpr double kCount = kThreads * kRounds;
  CHECK(values(x.grad()) == V{2 * kCount, 4 * kCount, 6 * kCount});
  CHECK(values(w.grad()) == V{kCount, 4 * kCount, 9 * kCount});
}

TEST_CASE("threads add products to the gradients of shared leaves") {
  const Tensor w = ones({64, 80}, float64).requires_grad_();
  const Tensor x = ones({2, 80}, float64);
  together(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) linear(x, w, {}).sum().backward();
  });
  CHECK(equal(w.grad(), full({64, 80}, 2.0 * kThreads * kRounds, float64)));
}

TEST_CASE("threads differentiate one retained graph") {
  const Tensor x = leaf({1, 2, 3});
  Tensor y = (x * 2).exp();
  y.retain_grad();
  const Tensor z = (y * y).sum();
  together(kThreads, [&](int) {
    for (int round = 0; round < kRounds; ++round) {
      z.backward({}, true);
      autograd::grad({z}, {x}, {}, {.retain_graph = true, .create_graph = true});
    }
  });
  const V expected = values(y * 2 * kThreads * kRounds);
  for (std::size_t i = 0; i < 3; ++i) CHECK(values(y.grad())[i] == Approx(expected[i]));
}

TEST_CASE("threads read one view after its base was written") {
  const Tensor x = leaf({1, 2, 3});
  for (int round = 0; round < kRounds; ++round) {
    const Tensor y = x * 1;
    const Tensor view = y[1];
    y.mul_(3);
    together(2, [&](int) { (view * 2).backward({}, true); });
  }
  CHECK(values(x.grad()) == V{0, 2 * 2 * 3 * kRounds, 0});
}

TEST_CASE("a thread may drop what another's graph leads to") {
  for (int round = 0; round < kRounds; ++round) {
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

TEST_CASE("grad mode belongs to the thread") {
  const NoGradGuard no_grad;
  bool enabled = false;
  std::thread([&] { enabled = grad_enabled(); }).join();
  CHECK(enabled);
  CHECK_FALSE(grad_enabled());
}
