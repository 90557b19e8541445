#include "benchmarks/limits/limits.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmarks/limits/limits.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace limits::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The number of independent sums, which hide the latency of a multiply-add. It is more than latency
// * (multiply-adds per cycle) on any current core.
constexpr double kChains = 12;

/// Does at least `flops` operations. Returns a sum of all results, so that the compiler cannot
/// remove the operations.
float multiply_add(double flops) {
  const hn::ScalableTag<float> d;
  const double per_round = kChains * 2 * static_cast<double>(hn::Lanes(d));
  const auto rounds = static_cast<std::int64_t>(flops / per_round) + 1;
  const auto x = hn::Set(d, 0.999F);
  const auto y = hn::Set(d, 0.001F);
  // The sums start at different values. Otherwise the compiler would see that they are equal.
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

/// Reads `count` numbers and returns their sum. A last part that does not fill a vector is skipped.
float read_all(const float* numbers, std::size_t count) {
  // This is farther ahead than processors prefetch by themselves.
  constexpr std::size_t kAhead = 2048;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (std::size_t line = 0; line < 4 * lanes; line += 16)
      hwy::Prefetch(numbers + i + kAhead + line);
    s0 = hn::Add(s0, hn::LoadU(d, numbers + i));
    s1 = hn::Add(s1, hn::LoadU(d, numbers + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, numbers + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, numbers + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) s0 = hn::Add(s0, hn::LoadU(d, numbers + i));
  return hn::GetLane(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)));
}

std::string target_name() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace limits::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limits {
HWY_EXPORT(multiply_add);
HWY_EXPORT(read_all);
HWY_EXPORT(target_name);

namespace {

using Sums = std::vector<float>;

/// Pins this thread to the core at index `number` of `cores`. Two threads on one core would show
/// only half of the machine's limit.
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

/// Calls f(thread) on new threads, each pinned to its own core. The calling thread is not pinned,
/// because threads that it creates later would inherit its core.
void on_threads(int threads, const std::function<void(std::size_t)>& f) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      stay_on(cores, i);
      f(static_cast<std::size_t>(i));
    });
  }
  for (std::thread& thread : running) thread.join();
}

/// One sum for each thread, each in its own cache line. A thread stores its result there, so the
/// compiler cannot remove the work.
std::shared_ptr<Sums> make_sums(int threads) {
  return std::make_shared<Sums>(static_cast<std::size_t>(threads) * 16);
}

/// Rounds per second: the best of several attempts of 20 ms each. The best is the right one, since
/// other programs can only slow the work down.
double best_rate(const Work& work) {
  const auto seconds_of = [&work](std::int64_t rounds) {
    const auto start = std::chrono::steady_clock::now();
    work(rounds);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::int64_t rounds = 1;
  double seconds = seconds_of(rounds);
  while (seconds < 0.02) {
    rounds *= 2;
    seconds = seconds_of(rounds);
  }
  for (int attempt = 1; attempt < 8; ++attempt) seconds = std::min(seconds, seconds_of(rounds));
  return static_cast<double>(rounds) / seconds;
}

}  // namespace

Work arithmetic(double flops, int threads) {
  return [=, sums = make_sums(threads)](std::int64_t rounds) {
    const double share = flops * static_cast<double>(rounds) / threads;
    on_threads(threads, [&](std::size_t thread) {
      (*sums)[thread * 16] = HWY_DYNAMIC_DISPATCH(multiply_add)(share);
    });
  };
}

Work copying(double bytes, int threads) {
  struct Memory {
    std::vector<char> from, to;
  };
  const auto count = static_cast<std::size_t>(threads);
  const std::size_t part = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / 2 / count);
  const auto memory = std::make_shared<Memory>(
      Memory{std::vector<char>(part * count, 1), std::vector<char>(part * count)});
  return [=](std::int64_t rounds) {
    on_threads(threads, [&](std::size_t thread) {
      char* const to = memory->to.data() + thread * part;
      for (std::int64_t i = 0; i < rounds; ++i) {
        std::memcpy(to, memory->from.data() + thread * part, part);
        asm volatile("" : : "r"(to) : "memory");  // no copy is optimised away
      }
    });
  };
}

Work reading(double bytes, int threads) {
  const auto count = static_cast<std::size_t>(threads);
  const std::size_t part = static_cast<std::size_t>(bytes) / sizeof(float) / count;
  const auto numbers = std::make_shared<std::vector<float>>(part * count, 1.0F);
  return [=, sums = make_sums(threads)](std::int64_t rounds) {
    on_threads(threads, [&](std::size_t thread) {
      for (std::int64_t i = 0; i < rounds; ++i) {
        (*sums)[thread * 16] +=
            HWY_DYNAMIC_DISPATCH(read_all)(numbers->data() + thread * part, part);
      }
    });
  };
}

std::string simd_target() {
  return HWY_DYNAMIC_DISPATCH(target_name)();
}

double flops_per_second(int threads) {
  constexpr double kFlops = 1e6;
  return kFlops * best_rate(arithmetic(kFlops, threads));
}

double bytes_per_second(int threads, double bytes) {
  return bytes * best_rate(copying(bytes, threads));
}

}  // namespace limits
#endif
