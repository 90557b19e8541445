// A step in a run of a million steps takes no more memory, files or time than in a short run.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <tend/tend.h>

#include "tests/catch.h"

using namespace tend;

namespace {

struct Usage {
  std::int64_t pages = 0;  // pages of the process's memory
  std::int64_t live = 0;   // bytes of arrays
  std::ptrdiff_t files = 0;
};

Usage usage() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0, of_files = 0;
  file >> size >> resident >> of_files;  // pages of files do not count: the system may drop them
  return {resident - of_files, live_memory(),
          std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})};
}

}  // namespace

TEST_CASE("a million steps of training take no more memory and files than ten thousand", "[slow]") {
  constexpr std::int64_t kSteps = 1'000'000, kFirst = 10'000;
  manual_seed(1);
  nn::Linear up(2, 4), down(4, 1);
  std::vector<Tensor> parameters = up.parameters();
  for (const Tensor& each : down.parameters()) parameters.push_back(each);
  optim::AdamW optimizer(parameters, {.lr = 1e-4});
  optim::CosineAnnealingLR schedule(optimizer, kSteps);
  Usage first, last;
  auto start = std::chrono::steady_clock::now();
  std::vector<double> seconds;  // the time of each tenth of the run
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    const Tensor x = randn({8, 2});
    optimizer.zero_grad();
    const Tensor loss = mse_loss(down(dropout(gelu(up(x)), 0.1)), x.sum(1, true));
    loss.backward();
    nn::clip_grad_norm_(parameters, 1);
    optimizer.step();
    schedule.step();
    if (step == kFirst) first = usage();
    if (step == kSteps) last = usage();
    if (step % (kSteps / 10) == 0) {
      const auto now = std::chrono::steady_clock::now();
      seconds.push_back(std::chrono::duration<double>(now - start).count());
      start = now;
    }
  }
  WARN("seconds of each 100,000 steps: " << Catch::Detail::stringify(seconds));
  CHECK(last.live == first.live);
  CHECK(last.files == first.files);
  // The allocator of the C library may still take a few pages for its own lists.
  CHECK(last.pages <= first.pages + 64);
}
