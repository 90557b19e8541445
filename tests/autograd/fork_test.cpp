// The child of a fork() while other threads use tensors and graphs. See docs/threads.md.
#include <tend/autograd/tools/checkpoint.h>
#include <tend/autograd/tools/function.h>
#include <tend/core/threads/parallel.h>

#include "tests/autograd/support.h"
#include "tests/threads.h"

#if TEND_TEST_FORK

using namespace tend;
using namespace tend::test;

namespace {

constexpr int kForks = 100;

// Writes to a tensor, and asks a view of it for its history.
void renew(int) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * 1, view = y[1];
  for (int i = 0; i < 5; ++i) {
    y.mul_(2);
    if (!view.requires_grad()) std::abort();
  }
}

template <int kNumber>
struct Named : autograd::Function<Named<kNumber>> {
  static Tensor forward(autograd::FunctionContext&, const Tensor& x) { return x * kNumber; }
  static Tensor backward(const autograd::FunctionContext&, const Tensor& grad) {
    return grad * kNumber;
  }
};

void name_functions(int) {
  const Tensor x = leaf({1, 2});
  Named<1>().apply(x);
  Named<2>().apply(x);
}

}  // namespace

TEST_CASE("The child of a fork renews the history of views") {
  CHECK(failed_children(kForks, renew) == 0);
}

TEST_CASE("The child of a fork names functions") {
  CHECK(failed_children(kForks, name_functions) == 0);
}

TEST_CASE("The child of a fork adds to the gradients that other threads added to") {
  Tensor shared = ones({30, 40}, float64).requires_grad_();
  shared.set_grad(zeros({30, 40}, float64));
  CHECK(failed_children(kForks, [&](int) { (shared * 2).sum().backward(); }) == 0);
}

TEST_CASE("The child of a fork goes backward through a checkpoint that other threads run again") {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = autograd::checkpoint([](const Tensor& a) { return (a.exp() * a).sum(); }, x);
  const Tensor w = autograd::checkpoint([](const Tensor& a) { return (a.exp() * a).sum(); }, x);
  CHECK(failed_children(kForks, [&](int i) {
          autograd::grad({i % 2 == 0 ? y : w}, {x}, {}, {.retain_graph = true});
          autograd::grad({autograd::checkpoint([](const Tensor& a) { return a * a; }, x).sum()},
                         {x});
        }) == 0);
}

TEST_CASE(
    "The child of a fork may not free a graph that another thread was going backward through") {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * x, z = (y * y).sum();
  const bool retains = GENERATE(false, true);
  std::atomic<int> step = 0;
  y.register_hook([&](const Tensor&) {
    if (step.exchange(1) != 0) return;
    while (step < 2) std::this_thread::yield();
  });
  std::thread other([&] { z.backward({}, retains); });
  while (step < 1) std::this_thread::yield();
  CHECK(status_of_child([&] {
          const bool shares = [&] {
            try {
              autograd::grad({z}, {x}, {}, {.retain_graph = true});
              return true;
            } catch (const AutogradError&) {
              return false;
            }
          }();
          try {
            z.backward();
            return false;
          } catch (const AutogradError&) {
            return shares == retains;
          }
        }) == 0);
  step = 2;
  other.join();
  CHECK(values(x.grad()) == std::vector<double>{4, 32});
}

TEST_CASE("The child of a fork trains") {
  const Tensor data = ones({64, 100}), weight = ones({100, 32}).requires_grad_();
  CHECK(failed_children(kForks, [&](int i) {
          const Tensor h = dropout(matmul(data, weight), 0.1, true);
          (h.relu() * i).sum().backward();
          to_string(h);
        }) == 0);
}

#endif
