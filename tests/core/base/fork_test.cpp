// The child of a fork() while other threads use what the library's locks guard. See
// docs/threads.md.
#include <tend/core/base/fork.h>

#include <algorithm>
#include <chrono>
#include <locale>
#include <mutex>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/array/print.h>
#include <tend/core/base/error.h>
#include <tend/core/kernels/matmul/blas.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/memory/pool.h>
#include <tend/core/random/distributions.h>
#include <tend/core/random/random.h>
#include <tend/core/threads/parallel.h>

#include "tests/catch.h"
#include "tests/threads.h"

using namespace tend;
using test::failed_children;
using test::status_of_child;
using test::together;

TEST_CASE("An object's mutex lets one thread in at a time") {
  detail::ObjectMutex mutex;
  int count = 0, refused = 0;
  together(4, [&](int) {
    for (int i = 0; i < 20000; ++i) {
      std::unique_lock lock(mutex, std::defer_lock);
      const bool is_first = lock.try_lock();
      if (!is_first) lock.lock();
      ++count;
      refused += is_first ? 0 : 1;
    }
  });
  CHECK(count == 4 * 20000);
  CHECK(refused <= count);
  const std::lock_guard held(mutex);
  CHECK_FALSE(mutex.try_lock());
}

TEST_CASE("The generator's lock may be taken again by the thread that holds it") {
  const RngStateGuard guard;
  Generator& generator = default_generator();
  const GeneratorLock outer(generator);
  {
    const GeneratorLock inner(generator);
    manual_seed(3);
  }
  const std::uint32_t first = generator.u32();
  manual_seed(3);
  CHECK(generator.u32() == first);
}

TEST_CASE("Threads draw from one generator, and together get its numbers") {
  const RngStateGuard guard;
  constexpr std::size_t kThreads = 4, kDraws = 500;
  manual_seed(11);
  std::vector<std::uint32_t> drawn(kThreads * kDraws), expected(kThreads * kDraws);
  together(kThreads, [&](int thread) {
    for (std::size_t i = 0; i < kDraws; ++i) {
      const GeneratorLock lock(default_generator());
      drawn[static_cast<std::size_t>(thread) * kDraws + i] = default_generator().u32();
    }
  });
  Generator(11).u32(expected);
  std::sort(drawn.begin(), drawn.end());
  std::sort(expected.begin(), expected.end());
  CHECK(drawn == expected);
}

TEST_CASE("Threads set and read the print options") {
  const PrintOptions before = get_printoptions();
  std::atomic<int> mixed = 0;
  together(4, [&](int thread) {
    for (int i = 0; i < 300; ++i) {
      PrintOptions options;
      options.precision = thread;
      options.linewidth = 80 + thread;
      set_printoptions(options);
      const PrintOptions now = get_printoptions();
      if (now.linewidth != 80 + now.precision) ++mixed;
      to_string(Array::zeros({3}, float32));
    }
  });
  set_printoptions(before);
  CHECK(mixed == 0);
}

TEST_CASE("Threads change the number of threads while others use them") {
  const int before = num_threads();
  std::atomic<std::int64_t> sum = 0;
  together(4, [&](int thread) {
    for (int i = 0; i < 50; ++i) {
      if (thread == 0) set_num_threads(1 + i % 4);
      parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    }
  });
  set_num_threads(before);
  CHECK(sum == std::int64_t{4} * 50 * 28);
}

#if TEND_TEST_FORK
namespace {

constexpr int kForks = 100;

struct ThreadsGuard {
  int before = num_threads();
  ~ThreadsGuard() { set_num_threads(before); }
};

void draw(int) {
  const Array numbers = Array::empty({100}, float32);
  kernels::normal(numbers, 0, 1, default_generator());
  get_rng_state();
}

void print(int) {
  set_printoptions(get_printoptions());
  to_string(Array::zeros({2, 3}, float32));
}

void allocate(int i) {
  for (const std::int64_t count : {10, 10000, 100000, 1000000}) {
    Array::empty({count + i}, float32);
  }
  live_memory();
}

// The product with a vector is left to BLAS, which takes memory with a lock of its own.
void multiply_matrices(int) {
  const Array a = Array::zeros({1000, 200}, float32), x = Array::zeros({200}, float32);
  const Array product = Array::empty({1000}, float32);
  for (int i = 0; i < 5; ++i) kernels::matmul(product, a, x);
}

void run_in_parallel(int) {
  std::atomic<std::int64_t> sum = 0;
  parallel_for(0, 16, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
  if (sum != 120) std::abort();
}

}  // namespace

TEST_CASE("The child of a fork draws random numbers") {
  CHECK(failed_children(kForks, draw) == 0);
}

TEST_CASE("The child of a fork prints") {
  CHECK(failed_children(kForks, print) == 0);
}

TEST_CASE("The child of a fork allocates, large and small") {
  CHECK(failed_children(kForks, allocate) == 0);
  CHECK(failed_children(kForks, [](int i) {
          allocate(i);
          empty_cache();
        }) == 0);
}

TEST_CASE("The child of a fork multiplies matrices") {
  CHECK(failed_children(kForks, multiply_matrices) == 0);
}

TEST_CASE("A fork waits until no thread is inside BLAS") {
  std::atomic<int> inside = 0;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        {
          const detail::BlasScope scope;
          ++inside;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          --inside;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(5));
      }
    });
  }
  int failed = 0;
  for (int i = 0; i < kForks; ++i) {
    if (status_of_child([&] { return inside == 0; }) != 0) ++failed;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
}

TEST_CASE("The child of a fork runs in parallel") {
  const ThreadsGuard guard;
  set_num_threads(3);
  CHECK(failed_children(kForks, run_in_parallel) == 0);
  CHECK(failed_children(kForks, [](int i) {
          set_num_threads(1 + (i + 2) % 3);
          run_in_parallel(i);
        }) == 0);
}

TEST_CASE("The child of a fork makes error messages, whatever the global locale") {
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new std::numpunct<char>()));
  const int failed = failed_children(kForks, [](int i) {
    for (int k = 0; k < 20; ++k) as_text("text ", i);
  });
  std::locale::global(before);
  CHECK(failed == 0);
}

TEST_CASE("The child of a fork does everything at once") {
  const ThreadsGuard guard;
  set_num_threads(3);
  CHECK(failed_children(kForks, [](int i) {
          draw(i);
          print(i);
          allocate(i);
          multiply_matrices(i);
          run_in_parallel(i);
          set_num_threads(2 + i % 2);
        }) == 0);
}

TEST_CASE("A fork under the generator's lock leaves it to both") {
  const RngStateGuard guard;
  const GeneratorLock lock(default_generator());
  manual_seed(4);
  const std::uint32_t first = Generator(4).u32();
  CHECK(status_of_child([&] { return default_generator().u32() == first; }) == 0);
  CHECK(default_generator().u32() == first);
}

TEST_CASE("An object's mutex that another thread held is free in the child of a fork") {
  detail::ObjectMutex mutex;
  std::atomic<int> step = 0;
  std::thread holder([&] {
    const std::lock_guard held(mutex);
    step = 1;
    while (step < 2) std::this_thread::yield();
  });
  std::thread waiter([&] {
    while (step < 1) std::this_thread::yield();
    const std::lock_guard held(mutex);  // so that the child finds it awaited, too
  });
  while (step < 1) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) {
    const bool tries = i == 0;
    CHECK(status_of_child([&] {
            std::unique_lock lock(mutex, std::defer_lock);
            if (tries && !lock.try_lock()) return false;
            if (!tries) lock.lock();
            if (mutex.try_lock()) return false;
            lock.unlock();
            return mutex.try_lock();
          }) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the waiter sleeps by now
  }
  CHECK_FALSE(mutex.try_lock());
  step = 2;
  holder.join();
  waiter.join();
  CHECK(mutex.try_lock());
  mutex.unlock();
}
#endif
