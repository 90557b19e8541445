// Graphs end: without recursion, however long they are, and without anything left behind.
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

// The thread sanitizer of GCC 12 fails a check of its own on so many atomic counters.
constexpr int kOperations = TEND_TEST_TSAN ? 100000 : 1000000;

// Runs f on a thread with a small stack: anything that recurses along a graph overflows it.
void on_small_stack(const std::function<void()>& f) {
  // Kernels keep tiles of partial sums on the stack. A million frames take 30 times as much.
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

// Bytes that arrays hold after f has run and everything it made is gone.
template <class F>
std::int64_t left_by(F f) {
  const std::int64_t before = live_memory();
  f();
  return live_memory() - before;
}

}  // namespace

TEST_CASE("A chain of one million operations goes forward, backward and is freed") {
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
  CHECK(gradient == Approx(1));  // of the fixed point y = x
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
  V gradient;  // looked at on this thread: Catch2 takes assertions from one thread only
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

TEST_CASE("Nothing is left of a graph, however it refers to itself") {
  const Tensor x = leaf({1, 2, 3, 4});
  const auto nothing_left = [&](auto f) {
    return left_by([&] {
             f();
             Tensor(x).zero_grad();
           }) == 0;
  };
  // An output that its node saved.
  CHECK(nothing_left([&] { const Tensor y = x.exp(); }));
  CHECK(nothing_left([&] { x.exp().sum().backward({}, true); }));
  // A tensor that an in-place write made a descendant of what had saved it.
  CHECK(nothing_left([&] {
    const Tensor y = x * 1;
    y.add_(y * y);
  }));
  // The same for a tensor that had no history at first.
  CHECK(nothing_left([&] {
    const Tensor cache = zeros({4}, float64);
    cache.add_(x * cache);
  }));
  // A cache of which one part was computed from a view of another.
  CHECK(nothing_left([&] {
    const Tensor cache = x * 1;
    const Tensor head = cache[{Slice{0, 2}}];
    cache[{Slice{2, 4}}] = head * head;
  }));
  // A gradient whose graph leads to the leaf that it belongs to.
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
  // exp's output goes; x.grad comes.
  CHECK(live_memory() <= before);
  CHECK(values(x.grad())[0] == Approx(2 * std::exp(1.0)));
}
