#include <tend/core/threads/parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/base/error.h>
#include <tend/core/memory/pool.h>

#include "tests/catch.h"

using namespace tend;

namespace {

// Restores the number of threads at the end of a test.
struct ThreadsGuard {
  int before = num_threads();
  ~ThreadsGuard() { set_num_threads(before); }
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

TEST_CASE("parallel_for calls every index once in chunks that depend only on the sizes") {
  const ThreadsGuard guard;
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> calls(1000), chunk_of(1000);
    parallel_for(0, 1000, 7, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        ++calls[static_cast<std::size_t>(i)];
        chunk_of[static_cast<std::size_t>(i)] = static_cast<int>(begin);
      }
    });
    for (std::size_t i = 0; i < 1000; ++i) {
      REQUIRE(calls[i] == 1);
      REQUIRE(chunk_of[i] == static_cast<int>(i / 7 * 7));
    }
  }
}

namespace {

std::atomic<std::int64_t> counted{0};
void count_range(std::int64_t begin, std::int64_t end) {
  counted += end - begin;
}

}  // namespace

TEST_CASE("parallel_for accepts a plain function") {
  parallel_for(0, 100, 7, count_range);
  CHECK(counted == 100);
}

TEST_CASE("A parallel section inside another section runs on the thread that calls it") {
  const ThreadsGuard guard;
  set_num_threads(4);
  std::atomic<int> total = 0, strangers = 0;
  parallel_for(0, 16, 1, [&](std::int64_t, std::int64_t) {
    const std::thread::id self = std::this_thread::get_id();
    parallel_for(0, 10, 1, [&](std::int64_t, std::int64_t) {
      ++total;
      if (std::this_thread::get_id() != self) ++strangers;
    });
  });
  CHECK(total == 160);
  CHECK(strangers == 0);
}

TEST_CASE("An exception ends a parallel section after all of its chunks") {
  const ThreadsGuard guard;
  set_num_threads(3);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::atomic<int> chunks = 0;
    const auto section = [&] {
      parallel_for(0, 20, 1, [&](std::int64_t begin, std::int64_t) {
        ++chunks;
        if (begin == 3) throw std::runtime_error("three");
      });
    };
    REQUIRE_THROWS_AS(section(), std::runtime_error);
    REQUIRE(chunks == 20);
  }
}

TEST_CASE("Many short sections run completely even after a pause") {
  const ThreadsGuard guard;
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    std::int64_t sum = 0;
    for (int section = 0; section < 3000; ++section) {
      std::atomic<std::int64_t> part = 0;
      parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t) { part += begin; });
      sum += part;
      // The workers do not spin for so long. They sleep, and the next section must wake them.
      if (section % 300 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(sum == std::int64_t{3000} * 28);
  }
}

TEST_CASE("Sections that several threads start at once run completely") {
  const ThreadsGuard guard;
  set_num_threads(3);
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> users;
  users.reserve(4);
  for (int i = 0; i < 4; ++i) {
    users.emplace_back([&] {
      for (int section = 0; section < 500; ++section) {
        parallel_for(0, 8, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
      }
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(sum == std::int64_t{4} * 500 * 28);
}

TEST_CASE("Threads without work use no processor time") {
  const ThreadsGuard guard;
  set_num_threads(8);
  parallel_for(0, 64, 1, [](std::int64_t, std::int64_t) {});
  // A thread needs a core to reach its sleep, which takes long if other programs use all cores. So
  // the test measures several intervals. Threads that never sleep would use all cores in each
  // interval, and sleeping threads use no processor time.
  constexpr auto kInterval = std::chrono::milliseconds(100);
  bool asleep = false;
  for (int i = 0; i < 200 && !asleep; ++i) {
    const double before = processor_seconds();
    std::this_thread::sleep_for(kInterval);
    asleep = processor_seconds() - before < 0.01;
  }
  CHECK(asleep);
}

TEST_CASE("set_num_threads refuses counts out of range and calls from inside a section") {
  const int before = num_threads();
  CHECK_THROWS_WITH(parallel_for(0, 2, 1, [](std::int64_t, std::int64_t) { set_num_threads(1); }),
                    "[set_num_threads] called inside a parallel_for");
  CHECK_THROWS_AS(set_num_threads(0), Error);
  CHECK_THROWS_AS(set_num_threads(-2), Error);
  CHECK_THROWS_WITH(set_num_threads(kMaxThreads + 1),
                    "[set_num_threads] needs from 1 to 1024 threads, got 1025");
  CHECK(num_threads() == before);
}
