// The rows in libtorch: ATen's functions, without the cost of Python.

#include "torch.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

#include "../inputs.h"
#include "same_works.h"

namespace compare {

Task chosen_way(const std::string& name, const std::vector<Way>& ways) {
  Task best;
  double least = std::numeric_limits<double>::infinity();
  for (const Way& way : ways) {
    if (!name.empty() && name != way.name) continue;
    Task task = way.prepare();
    task.way = way.name;
    if (way.name == name) return task;
    double seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {  // the first run also maps pages and wakes threads
      const auto start = std::chrono::steady_clock::now();
      task.run(1);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      seconds = std::min(seconds, spent.count());
      if (seconds > 3 * least) break;
    }
    if (seconds >= least) continue;
    least = seconds;
    best = std::move(task);
  }
  if (!best.run) throw std::runtime_error("there is no way " + name);
  return best;
}

namespace {

/// The instruction set of libtorch's own kernels, from its configuration.
std::string cpu_capability() {
  const std::string key = "CPU capability usage: ";
  const std::string config = at::show_config();
  const std::size_t found = config.find(key);
  if (found == std::string::npos) return "unknown";
  const std::size_t begin = found + key.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

std::string about(const Setup&) {
  return "libtorch " TORCH_VERSION ", own kernels " + cpu_capability() + ", " + openblas_facts() +
         ", " + std::to_string(at::get_num_threads()) + " threads";
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, {about, prepare});
}
