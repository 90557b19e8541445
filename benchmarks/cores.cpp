// How a GPT's training step would be shared among more cores than this machine has:
//
//   cores [VOCABULARY [TOKENS [WIDTH [LAYERS [HEADS [BATCH]]]]]]
//
// By default the larger step that `compare` times. One thread runs the step, and each chunk of each
// parallel loop is timed. What lies outside of the chunks is serial. A core that is free takes the
// loop's next chunk, and the next loop begins when the last chunk has ended; without a limit to the
// cores what remains is the critical path. The model knows neither what it takes to wake threads
// nor that cores share the memory's bandwidth, so its times are the least that can be hoped for.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include <tend/tend.h>

#include "gpt_step.h"

#include <nlohmann/json.hpp>

namespace {

using Chunks = std::vector<double>;  // seconds of each chunk of one loop

// Seconds on CLOCK_MONOTONIC, or on CLOCK_THREAD_CPUTIME_ID: the time that this thread had a
// processor, which other programs lengthen less.
double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The loops of a step while it is recorded.
std::vector<Chunks>* recorded = nullptr;
bool inside = false;

using RunChunks = void(std::int64_t, std::int64_t, std::int64_t, tend::detail::RangeFunction);

}  // namespace

// It stands before libtend's own, which has this name.
void tend::detail::run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain,
                              RangeFunction f) {
  static auto* const own = reinterpret_cast<RunChunks*>(
      dlsym(RTLD_NEXT, "_ZN4tend6detail10run_chunksElllNS_11FunctionRefIFvllEEE"));
  if (recorded == nullptr) return own(begin, end, grain, f);
  const bool outermost = !std::exchange(inside, true);
  Chunks chunks;
  for (grain = std::max<std::int64_t>(grain, 1); begin < end;
       begin += std::min(grain, end - begin)) {
    const double start = now(CLOCK_THREAD_CPUTIME_ID);
    f(begin, begin + std::min(grain, end - begin));
    chunks.push_back(now(CLOCK_THREAD_CPUTIME_ID) - start);
  }
  if (!outermost) return;
  inside = false;
  recorded->push_back(std::move(chunks));
}

namespace {

// What one loop takes on so many cores.
double seconds_on(std::size_t cores, const Chunks& chunks) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at(
      std::greater<>(), std::vector<double>(std::min(cores, chunks.size())));
  double end = 0;
  for (const double chunk : chunks) {
    const double ends = free_at.top() + chunk;
    free_at.pop();
    free_at.push(ends);
    end = std::max(end, ends);
  }
  return end;
}

double sum(const Chunks& chunks) {
  return std::accumulate(chunks.begin(), chunks.end(), 0.0);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

constexpr int kRepetitions = 7;

double time_of(const std::function<void()>& step, int threads) {
  tend::set_num_threads(threads);
  std::vector<double> times;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = now(CLOCK_MONOTONIC);
    step();
    times.push_back(now(CLOCK_MONOTONIC) - begin);
  }
  return median(times);
}

// The last stands for any number.
constexpr std::size_t kCores[] = {1, 2, 4, 8, 16, 32, 64, 128, 1 << 20};

// For each number of cores what the recorded steps would take, in the median.
std::map<std::size_t, double> model(const std::function<void()>& step) {
  std::map<std::size_t, std::vector<double>> times;
  for (int i = 0; i < kRepetitions; ++i) {
    std::vector<Chunks> loops;
    recorded = &loops;
    const double begin = now(CLOCK_THREAD_CPUTIME_ID);
    step();
    const double all = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    recorded = nullptr;
    for (const std::size_t cores : kCores) {
      double time = all;
      for (const Chunks& loop : loops) time += seconds_on(cores, loop) - sum(loop);
      times[cores].push_back(time);
    }
  }
  std::map<std::size_t, double> medians;
  for (const auto& [cores, all] : times) medians[cores] = median(all);
  return medians;
}

void print(const std::map<std::size_t, double>& modelled, double one, double two) {
  std::printf("Measured: %.2f ms with 1 thread, %.2f ms with 2 (%.2f times as fast).\n", one * 1e3,
              two * 1e3, one / two);
  std::printf("| cores | ms | times as fast | of the cores |\n|---:|---:|---:|---:|\n");
  for (const auto& [cores, seconds] : modelled) {
    const double gain = modelled.at(1) / seconds;
    if (cores > 128) {
      std::printf("| critical path | %.2f | %.1f | |\n", seconds * 1e3, gain);
    } else {
      std::printf("| %zu | %.2f | %.2f | %.0f %% |\n", cores, seconds * 1e3, gain,
                  100 * gain / static_cast<double>(cores));
    }
  }
}

// The largest number of cores stands for any, as in the table.
nlohmann::ordered_json results(const std::map<std::size_t, double>& modelled, double one,
                               double two) {
  nlohmann::ordered_json all{{"one_thread_seconds", one}, {"two_threads_seconds", two}};
  for (const auto& [cores, seconds] : modelled)
    all["modelled"].push_back({{"cores", cores}, {"seconds", seconds}});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  tend::benchmarks::GPTStep gpt;
  program::CommandLine line("cores", "Models a GPT's training step on more cores than there are");
  gpt.add_to(line);
  return line.run(argc, argv, [&] {
    program::check_can_write(gpt.json);
    tend::manual_seed(gpt.seed);
    const tend::attention::GPT model_of_step = gpt.model();
    tend::optim::AdamW adam(model_of_step.parameters());
    const tend::Tensor x = gpt.inputs();
    const auto step = [&] {
      adam.zero_grad();
      tend::cross_entropy(model_of_step(x).flatten(0, 1), x.flatten()).backward();
      adam.step();
    };
    step();  // makes the optimizer's state
    const double two = time_of(step, 2), one = time_of(step, 1);
    const std::map<std::size_t, double> modelled = model(step);
    print(modelled, one, two);
    program::write_results(gpt.json, [&] { return results(modelled, one, two).dump(1); });
    return 0;
  });
}
