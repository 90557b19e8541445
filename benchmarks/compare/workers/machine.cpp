// The machine's limits: fused multiply-adds on independent sums in registers, memcpy, and reading.

#include <string>

#include "../../limits/limits.h"
#include "../worker.h"

namespace compare {
namespace {

std::string about(const Setup& setup) {
  return std::to_string(setup.threads) + " cores, SIMD target " + limits::simd_target();
}

Task prepare(const Work& w, const Setup& setup) {
  const auto amount = static_cast<double>(w[0]);
  const auto task = [](limits::Work work) { return Task{std::move(work), [](Result&) {}}; };
  if (w.operation == "flops") return task(limits::arithmetic(amount, setup.threads));
  if (w.operation == "flops_one_thread") return task(limits::arithmetic(amount, 1));
  if (w.operation == "bytes") return task(limits::copying(amount, setup.threads));
  if (w.operation == "reads") return task(limits::reading(amount, setup.threads));
  return {};
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  return compare::serve(argc, argv, {compare::about, compare::prepare});
}
