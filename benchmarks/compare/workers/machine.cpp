// What the machine can do: fused multiply-adds on independent sums in registers, memcpy, and
// reading.

#include <sched.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../limits/limits.h"
#include "../worker.h"

namespace compare {

namespace {

/// f(thread) on `threads` threads, each on a core of its own, without any word between them.
void on_threads(int threads, const std::function<void(int)>& f) {
  static const cpu_set_t cores = limits::own_cores();
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&f, i] {
      limits::stay_on(cores, i);
      f(i);
    });
  }
  limits::stay_on(cores, 0);
  f(0);
  for (std::thread& other : others) other.join();
}

Task arithmetic(double flops, int threads) {
  const auto sink = std::make_shared<std::vector<float>>(static_cast<std::size_t>(threads) * 16);
  return {[=](std::int64_t count) {
            const double share = flops * static_cast<double>(count) / threads;
            on_threads(threads, [&](int thread) {
              (*sink)[static_cast<std::size_t>(thread) * 16] = limits::multiply_add(share);
            });
          },
          [](Result&) {}};
}

/// Reads half of the bytes and writes them elsewhere; each thread has its own part.
Task copying(double bytes, int threads) {
  struct Memory {
    std::vector<char> from, to;
  };
  const auto half = static_cast<std::size_t>(bytes / 2);
  const auto memory =
      std::make_shared<Memory>(Memory{std::vector<char>(half, 1), std::vector<char>(half)});
  const std::size_t part = half / static_cast<std::size_t>(threads);
  return {[=](std::int64_t count) {
            on_threads(threads, [&](int thread) {
              const std::size_t begin = static_cast<std::size_t>(thread) * part;
              for (std::int64_t i = 0; i < count; ++i) {
                std::memcpy(memory->to.data() + begin, memory->from.data() + begin, part);
              }
            });
          },
          [](Result&) {}};
}

/// Each thread reads its own part.
Task reading(double bytes, int threads) {
  const auto part = static_cast<std::size_t>(bytes / sizeof(float) / threads);
  const auto numbers =
      std::make_shared<std::vector<float>>(part * static_cast<std::size_t>(threads), 1.0F);
  const auto sink = std::make_shared<std::vector<float>>(static_cast<std::size_t>(threads) * 16);
  return {[=](std::int64_t count) {
            on_threads(threads, [&](int thread) {
              const auto number = static_cast<std::size_t>(thread);
              for (std::int64_t i = 0; i < count; ++i) {
                (*sink)[number * 16] += limits::read_all(numbers->data() + number * part, part);
              }
            });
          },
          [](Result&) {}};
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, [](const Setup& setup) {
    Library library;
    const int threads = setup.threads;
    library.about = [threads] {
      return std::to_string(threads) + " cores, SIMD target " + limits::simd_target();
    };
    library.prepare = [threads](const Work& w) -> Task {
      const auto amount = static_cast<double>(w[0]);
      if (w.operation == "flops") return arithmetic(amount, threads);
      if (w.operation == "flops_one_thread") return arithmetic(amount, 1);
      if (w.operation == "bytes") return copying(amount, threads);
      if (w.operation == "reads") return reading(amount, threads);
      return {};
    };
    return library;
  });
}
