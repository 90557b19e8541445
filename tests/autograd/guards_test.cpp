// Guards and hooks that end in an unusual order, or on another thread than they began.
#include <memory>
#include <thread>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/hooks.h>

#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

template <class F>
void on_another_thread(F f) {
  std::thread(f).join();
}

void run_backward() {
  (leaf({1.0}) * 2).backward();
}

}  // namespace

TEST_CASE("a node hook that ends on another thread is called no more") {
  int calls = 0;
  auto hook =
      std::make_unique<autograd::NodeHook>([&](const Node&, std::span<Tensor>) { ++calls; });
  run_backward();
  CHECK(calls == 1);
  on_another_thread([&] {
    run_backward();
    hook.reset();
    run_backward();
  });
  run_backward();
  CHECK(calls == 1);
  const autograd::NodeHook later([&](const Node&, std::span<Tensor>) { calls += 10; });
  run_backward();
  CHECK(calls == 11);
}

TEST_CASE("node hooks that are held by hooks which ended on another thread end with them") {
  int calls = 0, later_calls = 0;
  std::vector<std::unique_ptr<autograd::NodeHook>> outer;
  for (int i = 0; i < 20; ++i) {
    auto inner =
        std::make_shared<autograd::NodeHook>([&](const Node&, std::span<Tensor>) { ++calls; });
    outer.push_back(std::make_unique<autograd::NodeHook>(
        [held = std::move(inner)](const Node&, std::span<Tensor>) {}));
  }
  on_another_thread([&] { outer.clear(); });
  run_backward();
  CHECK(calls == 20);
  std::vector<std::unique_ptr<autograd::NodeHook>> later;
  for (int i = 0; i < 100; ++i) {
    later.push_back(std::make_unique<autograd::NodeHook>(
        [&](const Node&, std::span<Tensor>) { ++later_calls; }));
  }
  run_backward();
  CHECK(calls == 20);
  CHECK(later_calls == 100);
}

TEST_CASE("a node hook may outlive the thread that it was made on") {
  std::unique_ptr<autograd::NodeHook> hook;
  int calls = 0;
  on_another_thread([&] {
    hook = std::make_unique<autograd::NodeHook>([&](const Node&, std::span<Tensor>) { ++calls; });
    run_backward();
  });
  run_backward();
  hook.reset();
  CHECK(calls == 1);
}

TEST_CASE("a node hook may end while it runs") {
  std::unique_ptr<autograd::NodeHook> hook;
  int calls = 0;
  hook = std::make_unique<autograd::NodeHook>([&](const Node&, std::span<Tensor>) {
    ++calls;
    hook.reset();
  });
  (leaf({1.0}) * 2 * 3).backward();
  CHECK(calls == 1);
}

TEST_CASE("anomaly mode that ends on another thread ends on its own") {
  auto anomaly = std::make_unique<autograd::DetectAnomaly>();
  CHECK(autograd::DetectAnomaly::is_on());
  on_another_thread([&] {
    CHECK_FALSE(autograd::DetectAnomaly::is_on());
    anomaly.reset();
    CHECK_FALSE(autograd::DetectAnomaly::is_on());
    const autograd::DetectAnomaly own;
    CHECK(autograd::DetectAnomaly::is_on());
  });
  CHECK_FALSE(autograd::DetectAnomaly::is_on());
  const autograd::DetectAnomaly again;
  CHECK(autograd::DetectAnomaly::is_on());
}

TEST_CASE("anomaly modes end in any order") {
  auto first = std::make_unique<autograd::DetectAnomaly>();
  auto second = std::make_unique<autograd::DetectAnomaly>();
  first.reset();
  CHECK(autograd::DetectAnomaly::is_on());
  second.reset();
  CHECK_FALSE(autograd::DetectAnomaly::is_on());
}

TEST_CASE("the end of a mode's guard changes no other thread's mode") {
  bool kept_grad_mode = true, kept_inference_mode = false;
  on_another_thread([&] {
    auto no_grad = std::make_unique<NoGradGuard>();
    auto inference = std::make_unique<InferenceModeGuard>();
    on_another_thread([&] {
      inference.reset();
      no_grad.reset();
      CHECK(grad_enabled());
      CHECK_FALSE(inference_mode_enabled());
    });
    // The thread where they began keeps its modes; it has lost the way back to those before.
    kept_grad_mode = grad_enabled();
    kept_inference_mode = inference_mode_enabled();
  });
  CHECK_FALSE(kept_grad_mode);
  CHECK(kept_inference_mode);
  CHECK(grad_enabled());
}
