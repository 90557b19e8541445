// Times softmax kernels. B is the rate of bytes that are read and written. Each array counts once.
// peak% is B as a share of the rate of memcpy in the same run, with the same numbers of bytes and
// threads.
#include <map>

#include <tend/core/kernels/rows/softmax.h>
#include <tend/core/threads/parallel.h>

#include "limits/limits.h"
#include "shapes.h"

using namespace tend;
using benchmarks::varied;

namespace {

using Forward = void (*)(const Array& out, const Array& a, std::int64_t dim);
using Backward = void (*)(const Array& out, const Array& grad, const Array& y, std::int64_t dim);

Shape shape_of(const benchmark::State& state) {
  return {state.range(0), state.range(1)};
}

template <class F>
void measure_bytes(benchmark::State& state, const Array& each, int arrays, F&& f) {
  static std::map<std::int64_t, double> peaks;  // a benchmark runs several times
  const std::int64_t bytes = each.numel() * item_size(each.dtype()) * arrays;
  double& peak = peaks[bytes];
  if (peak == 0) peak = limits::bytes_per_second(num_threads(), static_cast<double>(bytes));
  benchmarks::measure(state, "B", static_cast<double>(bytes), peak, f);
}

// Softmax over dimension `dim` of a (rows, columns) matrix.
void forward(benchmark::State& state, Forward kernel, std::int64_t dim) {
  const Array a = varied(shape_of(state)), out = varied(shape_of(state));
  measure_bytes(state, out, 2, [&] { kernel(out, a, dim); });
}

void backward(benchmark::State& state, Forward kernel, Backward derivative, std::int64_t dim) {
  const Array a = varied(shape_of(state)), grad = varied(shape_of(state)),
              out = varied(shape_of(state));
  kernel(a, a, dim);
  measure_bytes(state, out, 3, [&] { derivative(out, grad, a, dim); });
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->UseRealTime();
  benchmark->Args({24, 6})->Args({2048, 64})->Args({4096, 1024})->Args({49152, 1024});
}

BENCHMARK_CAPTURE(forward, softmax_last, kernels::softmax, -1)->Apply(shapes);
BENCHMARK_CAPTURE(forward, softmax_first, kernels::softmax, 0)->Args({4096, 1024})->UseRealTime();
BENCHMARK_CAPTURE(forward, log_softmax_last, kernels::log_softmax, -1)->Apply(shapes);
BENCHMARK_CAPTURE(backward, softmax_last, kernels::softmax, kernels::softmax_backward, -1)
    ->Apply(shapes);
BENCHMARK_CAPTURE(backward, log_softmax_last, kernels::log_softmax, kernels::log_softmax_backward,
                  -1)
    ->Apply(shapes);

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::vector<std::int64_t>& s) {
    const auto set = [&s](benchmark::internal::Benchmark* benchmark) {
      benchmark->ArgNames({"rows", "columns"})->Args(s)->UseRealTime();
    };
    set(benchmark::RegisterBenchmark("forward/softmax_last", forward, kernels::softmax, -1));
    set(benchmark::RegisterBenchmark("forward/softmax_first", forward, kernels::softmax, 0));
    set(benchmark::RegisterBenchmark("backward/softmax_last", backward, kernels::softmax,
                                     kernels::softmax_backward, -1));
  };
  return benchmarks::run_shapes(argc, argv, "softmax", "4096x1024", add);
}
