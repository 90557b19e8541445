// Times the fixed cost of operations on tensors of a few elements, with and without a graph. Also
// times a small attention module (compare's row "notebooks' MultiHeadAttention").
#include <string>

#include <tend/tend.h>

#include "program.h"

using namespace tend;

namespace {

Tensor leaf(const Shape& shape) {
  return full(shape, 0.5).requires_grad_();
}

// Registers NAME/no_graph and NAME/graph: f(a, b) without a graph, and with a graph that is
// recorded and freed.
template <class F>
void add(const std::string& name, const Shape& a_shape, const Shape& b_shape, F f) {
  for (const bool graph : {false, true}) {
    const auto run = [=](benchmark::State& state) {
      const Tensor a = leaf(a_shape), b = leaf(b_shape);
      const GradModeGuard mode(graph);
      for (auto _ : state) benchmark::DoNotOptimize(f(a, b));
    };
    benchmark::RegisterBenchmark((name + (graph ? "/graph" : "/no_graph")).c_str(), run);
  }
}

void add_operations() {
  using T = const Tensor&;
  add("add", {6, 3}, {6, 3}, [](T a, T b) { return a + b; });
  add("mul", {6, 3}, {6, 3}, [](T a, T b) { return a * b; });
  add("mul_number", {6, 3}, {6, 3}, [](T a, T) { return a * 2.0; });
  add("add_row", {6, 3}, {3}, [](T a, T b) { return a + b; });
  add("exp", {6, 3}, {6, 3}, [](T a, T) { return a.exp(); });
  add("softmax", {6, 6}, {6, 6}, [](T a, T) { return a.softmax(-1); });
  add("matmul", {6, 3}, {3, 2}, [](T a, T b) { return a.matmul(b); });
  add("linear", {2, 6, 3}, {3}, [layer = nn::Linear(3, 2)](T a, T) { return layer(a); });
  add("transpose", {6, 3}, {6, 3}, [](T a, T) { return a.transpose(0, 1); });
  add("view", {6, 3}, {6, 3}, [](T a, T) { return a.view({3, 6}); });
  add("select", {6, 3}, {6, 3}, [](T a, T) { return a.select(0, 2); });
}

void add_in_place(benchmark::State& state) {
  const Tensor a = zeros({6, 3}), b = ones({6, 3});
  for (auto _ : state) a.add_(b);
}

// Forward and backward of a chain of tiny operations. One item is an operation and its derivative.
void chain(benchmark::State& state, bool zero_grad) {
  Tensor x = leaf({6, 3});
  for (auto _ : state) {
    if (zero_grad) x.zero_grad();
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = (y + x) * x;
    y.sum().backward();
  }
  state.SetItemsProcessed(state.iterations() * 101);
}

attention::MultiHeadAttention seeds_attention() {
  manual_seed(123);
  return {/*d_in=*/3, /*d_out=*/2, /*context_length=*/6, /*dropout=*/0.0, /*num_heads=*/2};
}

void attention_forward(benchmark::State& state) {
  const attention::MultiHeadAttention attend = seeds_attention();
  const Tensor x = full({2, 6, 3}, 0.5);
  const NoGradGuard no_graph;
  for (auto _ : state) benchmark::DoNotOptimize(attend(x));
}

void attention_both(benchmark::State& state) {
  const attention::MultiHeadAttention attend = seeds_attention();
  const Tensor x = full({2, 6, 3}, 0.5);
  for (auto _ : state) {
    attend.zero_grad();
    attend(x).sum().backward();
  }
}

BENCHMARK(add_in_place);
BENCHMARK_CAPTURE(chain, gradient_is_added, false);
BENCHMARK_CAPTURE(chain, gradient_is_new, true);  // as after zero_grad
BENCHMARK(attention_forward);
BENCHMARK(attention_both);

}  // namespace

int main(int argc, char** argv) {
  add_operations();
  return benchmarks::run(argc, argv);
}
