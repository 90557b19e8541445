// Times every row of the operation table, forward only and with backward. items_per_second counts
// the elements of the results. FLOP is the rate of floating-point operations, if the row states
// their number.
#include "tests/op_table/op_table.h"

#include <algorithm>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/tensor/grad_mode.h>

#include "program.h"

using namespace tend;
using test::Op;

namespace {

std::int64_t count_elements(const std::vector<Tensor>& tensors) {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

void count_work(benchmark::State& state, const Op& op, const test::Case& made, double passes) {
  state.SetItemsProcessed(state.iterations() * count_elements(op.call(made.inputs)));
  if (op.flops) state.counters["FLOP"] = benchmarks::rate(passes * op.flops(made.inputs));
}

void forward(benchmark::State& state, const Op& op) {
  const test::Case made =
      test::make_case(op, test::large_sample(op), test::Layout::contiguous, float32);
  const NoGradGuard no_graph;
  for (auto _ : state) benchmark::DoNotOptimize(op.call(made.inputs));
  count_work(state, op, made, 1);
}

// Forward and backward together, because a graph can be used only once.
void both(benchmark::State& state, const Op& op) {
  const test::Case made =
      test::make_case(op, test::large_sample(op), test::Layout::contiguous, float32);
  std::vector<Tensor> wanted;
  for (const Tensor& input : made.inputs) {
    if (input.requires_grad()) wanted.push_back(input);
  }
  for (auto _ : state) {
    std::vector<Tensor> outputs, cotangents;
    for (const Tensor& output : op.call(made.inputs)) {
      if (!output.requires_grad()) continue;
      outputs.push_back(output);
      cotangents.push_back(ones_like(output));
    }
    if (outputs.empty()) {
      state.SkipWithError("no gradient");
      return;
    }
    autograd::grad(outputs, wanted, cotangents, {.allow_unused = true});
  }
  // The backward of a product computes two products.
  count_work(state, op, made, 3);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Op& op : test::op_table()) {
    const auto name = [&op](const char* what) { return op.name + "/" + what + "/" + op.torch; };
    benchmark::RegisterBenchmark(name("forward").c_str(), forward, op)->UseRealTime();
    const bool has_gradient =
        std::any_of(op.samples.at(0).begin(), op.samples.at(0).end(),
                    [](const test::Input& input) { return input.has_gradient(); });
    if (has_gradient) {
      benchmark::RegisterBenchmark(name("both").c_str(), both, op)->UseRealTime();
    }
  }
  return benchmarks::run(argc, argv);
}
