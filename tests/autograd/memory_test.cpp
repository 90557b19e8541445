// Graphs of any length are freed without recursion, and leave no memory behind.
#include <pthread.h>

#include <exception>
#include <functional>

#include <tend/core/memory/storage.h>

#include "tests/autograd/support.h"
#include "tests/sanitizers.h"

using namespace tend;
using namespace tend::test;

namespace {

using V = std::vector<double>;

// With a million operations there are too many atomic counters for the thread sanitizer of GCC 12:
// one of its own checks fails.
constexpr int kOperations = TEND_TEST_TSAN ? 100000 : 1000000;

// Runs f on a thread with a small stack, so that recursion along a graph overflows the stack.
void on_small_stack(const std::function<void()>& f) {
  // Enough for kernels, which have tiles of partial sums on the stack. A million frames would need
  // 30 times as much.
  constexpr std::size_t kStack = std::size_t{1} << 20;
  struct Job {
    const std::function<void()>& f;
    std::exception_ptr error;
  } job{f, nullptr};
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, kStack) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(
              &thread, &attributes,
              [](void* context) -> void* {
                auto* the_job = static_cast<Job*>(context);
                try {
                  the_job->f();
                } catch (...) {
                  the_job->error = std::current_exception();
                }
                return nullptr;
              },
              &job) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  if (job.error) std::rethrow_exception(job.error);
}

// The number of bytes in arrays that are still alive after f has returned.
template <class F>
std::int64_t left_by(F f) {
  const std::int64_t before = live_memory();
  f();
  return live_memory() - before;
}

}  // namespace

TEST_CASE("A chain of one million operations runs forward and backward and is freed") {
  double gradient = 0;
  std::int64_t left = -1;
  on_small_stack([&] {
    left = left_by([&] {
      const Tensor x = leaf({1.0});
      Tensor y = x;
      for (int i = 0; i < kOperations; i += 2) y = (y + x) * 0.5;
      y.backward();
      gradient = x.grad().item();
    });
  });
  CHECK(gradient == Approx(1));  // y = x is a fixed point of the loop
  CHECK(left == 0);
}

TEST_CASE("A chain of one million operations is freed without a backward, also through views") {
  std::int64_t left = -1;
  on_small_stack([&] {
    left = left_by([&] {
      const Tensor x = leaf({{1.0, 2.0}});
      Tensor y = x * 1;
      for (int i = 0; i < kOperations / 2; ++i) y = y.t();
      for (int i = 0; i < kOperations / 2; ++i) y = y * y;
    });
  });
  CHECK(left == 0);
}

TEST_CASE("Many in-place writes through views make a chain that is freed") {
  std::int64_t left = -1;
  V gradient;  // checked on this thread: Catch2 allows assertions on one thread only
  on_small_stack([&] {
    left = left_by([&] {
      const Tensor x = leaf({1.0, 2.0});
      const Tensor y = x * 1;
      for (int i = 0; i < 100000; ++i) y[1] += x[0];
      y.sum().backward();
      gradient = values(x.grad());
    });
  });
  CHECK(gradient == V{100001, 1});
  CHECK(left == 0);
}

TEST_CASE("A graph that refers to itself is freed completely") {
  const Tensor x = leaf({1, 2, 3, 4});
  const auto nothing_left = [&](auto f) {
    return left_by([&] {
             f();
             Tensor(x).zero_grad();
           }) == 0;
  };
  // A node saved its own output.
  CHECK(nothing_left([&] { const Tensor y = x.exp(); }));
  CHECK(nothing_left([&] { x.exp().sum().backward({}, true); }));
  // After the in-place write, y depends on the node that saved y.
  CHECK(nothing_left([&] {
    const Tensor y = x * 1;
    y.add_(y * y);
  }));
  // The same for a tensor that has no grad_fn before the write.
  CHECK(nothing_left([&] {
    const Tensor cache = zeros({4}, float64);
    cache.add_(x * cache);
  }));
  // One part of a cache was computed from a view of another part.
  CHECK(nothing_left([&] {
    const Tensor cache = x * 1;
    const Tensor head = cache[{Slice{0, 2}}];
    cache[{Slice{2, 4}}] = head * head;
  }));
  // The graph of a gradient leads to the leaf that owns the gradient.
  CHECK(nothing_left([&] {
    const Tensor w = leaf({1, 2, 3, 4});
    (w * w * x).sum().backward({}, false, true);
    REQUIRE(w.grad().requires_grad());
  }));
  CHECK(nothing_left([&] {
    Tensor y = x * x;
    y.retain_grad();
    (y * y).sum().backward({}, false, true);
  }));
}

TEST_CASE("backward frees saved tensors as it goes") {
  const Tensor x = (ones({1000}, float64)).requires_grad_();
  const Tensor y = (x.exp() * 2).sum();
  const std::int64_t before = live_memory();
  y.backward();
  // backward frees the output of exp and allocates x.grad.
  CHECK(live_memory() <= before);
  CHECK(values(x.grad())[0] == Approx(2 * std::exp(1.0)));
}
