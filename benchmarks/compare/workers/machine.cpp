// What the machine can do: fused multiply-adds on independent sums in registers, and memcpy.

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/compare/workers/machine.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "../worker.h"

HWY_BEFORE_NAMESPACE();
namespace compare::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double kChains = 12;  // more than latency times throughput of any core so far

/// Does at least `flops` operations; returns their sum, which only serves to keep them.
float multiply_add(double flops) {
  const hn::ScalableTag<float> d;
  const double per_round = kChains * 2 * static_cast<double>(hn::Lanes(d));
  const auto rounds = static_cast<std::int64_t>(flops / per_round) + 1;
  const auto x = hn::Set(d, 0.999F);
  const auto y = hn::Set(d, 0.001F);
  // Each starts elsewhere, or the compiler sees that they are the same.
  auto s0 = hn::Set(d, 0.0F), s1 = hn::Set(d, 1.0F), s2 = hn::Set(d, 2.0F), s3 = hn::Set(d, 3.0F);
  auto s4 = hn::Set(d, 4.0F), s5 = hn::Set(d, 5.0F), s6 = hn::Set(d, 6.0F), s7 = hn::Set(d, 7.0F);
  auto s8 = hn::Set(d, 8.0F), s9 = hn::Set(d, 9.0F), s10 = hn::Set(d, 10.0F);
  auto s11 = hn::Set(d, 11.0F);
  for (std::int64_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, x, y);
    s1 = hn::MulAdd(s1, x, y);
    s2 = hn::MulAdd(s2, x, y);
    s3 = hn::MulAdd(s3, x, y);
    s4 = hn::MulAdd(s4, x, y);
    s5 = hn::MulAdd(s5, x, y);
    s6 = hn::MulAdd(s6, x, y);
    s7 = hn::MulAdd(s7, x, y);
    s8 = hn::MulAdd(s8, x, y);
    s9 = hn::MulAdd(s9, x, y);
    s10 = hn::MulAdd(s10, x, y);
    s11 = hn::MulAdd(s11, x, y);
  }
  const auto low = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  const auto high = hn::Add(hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)), hn::Add(s10, s11));
  return hn::GetLane(hn::Add(low, high));
}

std::string target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace compare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace compare {
HWY_EXPORT(multiply_add);
HWY_EXPORT(target_name);

namespace {

/// Keeps this thread on the core of that number among those of the process: two that share one
/// would show half of what there is.
void stay_on(const cpu_set_t& cores, int number) {
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores) || number-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// f(thread) on `threads` threads, each on a core of its own, without any word between them.
void on_threads(int threads, const std::function<void(int)>& f) {
  static const cpu_set_t cores = [] {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    return all;
  }();
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&f, i] {
      stay_on(cores, i);
      f(i);
    });
  }
  stay_on(cores, 0);
  f(0);
  for (std::thread& other : others) other.join();
}

Task arithmetic(double flops, int threads) {
  const auto sink = std::make_shared<std::vector<float>>(static_cast<std::size_t>(threads) * 16);
  return {[=](std::int64_t count) {
            const double share = flops * static_cast<double>(count) / threads;
            on_threads(threads, [&](int thread) {
              (*sink)[static_cast<std::size_t>(thread) * 16] =
                  HWY_DYNAMIC_DISPATCH(multiply_add)(share);
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

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, [](const Setup& setup) {
    Library library;
    const int threads = setup.threads;
    library.about = [threads] {
      return std::to_string(threads) + " cores, SIMD target " + HWY_DYNAMIC_DISPATCH(target_name)();
    };
    library.prepare = [threads](const Work& w) -> Task {
      const auto amount = static_cast<double>(w[0]);
      if (w.operation == "flops") return arithmetic(amount, threads);
      if (w.operation == "flops_one_thread") return arithmetic(amount, 1);
      if (w.operation == "bytes") return copying(amount, threads);
      return {};
    };
    return library;
  });
}
#endif
