// Softmax kernels: B is the rate of bytes read and written, each array counted once.
#include <tend/core/kernels/rows/softmax.h>

#include "program.h"

using namespace tend;

namespace {

using Forward = void (*)(const Array& out, const Array& a, std::int64_t dim);
using Backward = void (*)(const Array& out, const Array& grad, const Array& y, std::int64_t dim);

Array varied(const Shape& shape) {
  const Array out = Array::empty(shape, float32);
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.data<float>()[i] = static_cast<float>(i % 1009) * 0.01F;
  return out;
}

Shape shape_of(const benchmark::State& state) {
  return {state.range(0), state.range(1)};
}

void count_bytes(benchmark::State& state, const Array& each, int arrays) {
  state.counters["B"] = benchmarks::rate(static_cast<double>(each.numel()) *
                                         static_cast<double>(item_size(each.dtype())) * arrays);
}

// Over a dimension of (rows, columns).
void forward(benchmark::State& state, Forward kernel, std::int64_t dim) {
  const Array a = varied(shape_of(state)), out = varied(shape_of(state));
  kernel(out, a, dim);  // pages and caches are warm
  for (auto _ : state) kernel(out, a, dim);
  count_bytes(state, out, 2);
}

void backward(benchmark::State& state, Forward kernel, Backward derivative, std::int64_t dim) {
  const Array a = varied(shape_of(state)), grad = varied(shape_of(state)),
              out = varied(shape_of(state));
  kernel(a, a, dim);
  derivative(out, grad, a, dim);
  for (auto _ : state) derivative(out, grad, a, dim);
  count_bytes(state, out, 3);
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
  return benchmarks::run(argc, argv);
}
