// Times matrix products. FLOP is the rate on the chosen path (TEND_MATMUL): FLOP=250G/s means 250
// GFLOP/s. `blas` and `tiles` are the rates on the two paths, each the best of several turns.
//
// peak% is the share of the rate of multiply-adds in registers, measured in the same run on the
// same number of threads. For float64, the limit is half of this rate.
#include <array>

#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/threads/parallel.h>

#include "limits/limits.h"
#include "shapes.h"

using namespace tend;

namespace {

// Times both paths in turn, because the machine's speed may change during the run.
template <class F>
void compare_paths(benchmark::State& state, double flops, F&& f) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTurns = 16;
  const std::array<MatmulPath, 2> paths = {MatmulPath::blas, MatmulPath::tiles};
  const auto count = static_cast<std::int64_t>(state.iterations()) / kTurns + 1;
  std::array<double, 2> best{};
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const MatmulPathGuard guard(paths[i]);
      f();  // brings its code and data into the caches
      const Clock::time_point start = Clock::now();
      for (std::int64_t each = 0; each < count; ++each) f();
      const std::chrono::duration<double> seconds = Clock::now() - start;
      best[i] = std::max(best[i], flops * static_cast<double>(count) / seconds.count());
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    state.counters[std::string(matmul_path_name(paths[i]))] = best[i];
  }
}

void multiply(benchmark::State& state, const Array& a, const Array& b, const Array& out) {
  static const double peak = limits::flops_per_second(num_threads());
  const double flops = 2.0 * static_cast<double>(out.numel()) * static_cast<double>(a.size(-1));
  const auto product = [&] { kernels::matmul(out, a, b); };
  benchmarks::measure(state, "FLOP", flops, out.dtype() == float64 ? peak / 2 : peak, product);
  compare_paths(state, flops, product);
}

Array filled(const Shape& shape, DType dtype = float32) {
  return Array::full(shape, 0.5, dtype);
}

// n x n by n x n.
void square(benchmark::State& state, DType dtype) {
  const std::int64_t n = state.range(0);
  multiply(state, filled({n, n}, dtype), filled({n, n}, dtype), filled({n, n}, dtype));
}

// A Linear layer's products: (tokens, in) by the transpose of its weight (out, in).
void linear(benchmark::State& state, DType dtype) {
  const std::int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  multiply(state, filled({tokens, in}, dtype), filled({out, in}, dtype).transpose(0, 1),
           filled({tokens, out}, dtype));
}

// The gradient of a Linear layer's input.
void linear_input_gradient(benchmark::State& state, DType dtype) {
  const std::int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  multiply(state, filled({tokens, out}, dtype), filled({out, in}, dtype),
           filled({tokens, in}, dtype));
}

// The gradient of a Linear layer's weight.
void linear_weight_gradient(benchmark::State& state, DType dtype) {
  const std::int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  multiply(state, filled({tokens, out}, dtype).transpose(0, 1), filled({tokens, in}, dtype),
           filled({out, in}, dtype));
}

void linear_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"tokens", "in", "out"})->UseRealTime();
  benchmark->Args({1, 384, 384})->Args({768, 128, 128})->Args({768, 128, 512});
  benchmark->Args({768, 512, 128})->Args({1024, 384, 384})->Args({1024, 384, 1536});
  benchmark->Args({1024, 1536, 384});
}

// A view of (batch, tokens, heads * dim) as (batch, heads, tokens, dim), as attention splits heads.
Array split_heads(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t dim) {
  return filled({batch, tokens, heads * dim}).view({batch, tokens, heads, dim}).transpose(1, 2);
}

void attention_scores(benchmark::State& state) {
  const std::int64_t batch = state.range(0), heads = state.range(1), tokens = state.range(2),
                     dim = state.range(3);
  multiply(state, split_heads(batch, heads, tokens, dim),
           split_heads(batch, heads, tokens, dim).transpose(-2, -1),
           filled({batch, heads, tokens, tokens}));
}

void attention_context(benchmark::State& state) {
  const std::int64_t batch = state.range(0), heads = state.range(1), tokens = state.range(2),
                     dim = state.range(3);
  multiply(state, filled({batch, heads, tokens, tokens}), split_heads(batch, heads, tokens, dim),
           split_heads(batch, heads, tokens, dim));
}

void attention_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "H", "T", "D"})->UseRealTime();
  benchmark->Args({2, 2, 6, 1})->Args({8, 4, 64, 32})->Args({8, 8, 256, 64});
  benchmark->Args({4, 12, 1024, 64});
}

BENCHMARK_CAPTURE(square, float32, float32)->RangeMultiplier(2)->Range(4, 2048)->UseRealTime();
BENCHMARK_CAPTURE(square, float64, float64)->RangeMultiplier(2)->Range(4, 1024)->UseRealTime();
BENCHMARK_CAPTURE(linear, float32, float32)->Apply(linear_shapes);
BENCHMARK_CAPTURE(linear, float64, float64)->Apply(linear_shapes);
BENCHMARK_CAPTURE(linear_input_gradient, float32, float32)->Apply(linear_shapes);
BENCHMARK_CAPTURE(linear_input_gradient, float64, float64)->Apply(linear_shapes);
BENCHMARK_CAPTURE(linear_weight_gradient, float32, float32)->Apply(linear_shapes);
BENCHMARK_CAPTURE(linear_weight_gradient, float64, float64)->Apply(linear_shapes);
BENCHMARK(attention_scores)->Apply(attention_shapes);
BENCHMARK(attention_context)->Apply(attention_shapes);

}  // namespace

int main(int argc, char** argv) {
  // (m, k) by (k, n).
  const auto add = [](const std::vector<std::int64_t>& s) {
    const auto product = [](benchmark::State& state) {
      const std::int64_t m = state.range(0), k = state.range(1), n = state.range(2);
      multiply(state, filled({m, k}), filled({k, n}), filled({m, n}));
    };
    benchmark::RegisterBenchmark("matmul", product)
        ->ArgNames({"m", "k", "n"})
        ->Args(s)
        ->UseRealTime();
  };
  return benchmarks::run_shapes(argc, argv, "matmul", "768x128x512", add);
}
