// What an operation costs when its elements cost nothing: tensors of a few elements, with and
// without a graph, and the attention of the seeds' notebooks.
#include <tend/tend.h>

#include "program.h"

using namespace tend;

namespace {

Tensor leaf(const Shape& shape) {
  return full(shape, 0.5).requires_grad_();
}

// Calls f(a, b) without a graph, or with one that is recorded and thrown away.
template <class F>
void call(benchmark::State& state, const Shape& a_shape, const Shape& b_shape, bool graph, F f) {
  const Tensor a = leaf(a_shape), b = leaf(b_shape);
  const GradModeGuard mode(graph);
  for (auto _ : state) benchmark::DoNotOptimize(f(a, b));
}

void add(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto& b) { return a + b; });
}
void mul(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto& b) { return a * b; });
}
void mul_number(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto&) { return a * 2.0; });
}
void add_row(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {3}, graph, [](const auto& a, const auto& b) { return a + b; });
}
void exp(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto&) { return a.exp(); });
}
void softmax(benchmark::State& state, bool graph) {
  call(state, {6, 6}, {6, 6}, graph, [](const auto& a, const auto&) { return a.softmax(-1); });
}
void matmul(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {3, 2}, graph, [](const auto& a, const auto& b) { return a.matmul(b); });
}
void linear(benchmark::State& state, bool graph) {
  const nn::Linear layer(3, 2);
  call(state, {2, 6, 3}, {3}, graph, [&](const auto& a, const auto&) { return layer(a); });
}
void transpose(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto&) { return a.transpose(0, 1); });
}
void view(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto&) { return a.view({3, 6}); });
}
void select(benchmark::State& state, bool graph) {
  call(state, {6, 3}, {6, 3}, graph, [](const auto& a, const auto&) { return a.select(0, 2); });
}

void add_in_place(benchmark::State& state) {
  const Tensor a = zeros({6, 3}), b = ones({6, 3});
  for (auto _ : state) a.add_(b);
}

// Both ways through a chain of tiny operations; one item is an operation and its derivative.
void chain(benchmark::State& state) {
  const Tensor x = leaf({6, 3});
  for (auto _ : state) {
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = (y + x) * x;
    y.sum().backward();
  }
  state.SetItemsProcessed(state.iterations() * 101);
}

// Leaves that get their gradient for the first time, as after zero_grad.
void chain_zero_grad(benchmark::State& state) {
  Tensor x = leaf({6, 3});
  for (auto _ : state) {
    x.zero_grad();
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

BENCHMARK_CAPTURE(add, no_graph, false);
BENCHMARK_CAPTURE(add, graph, true);
BENCHMARK_CAPTURE(mul, no_graph, false);
BENCHMARK_CAPTURE(mul, graph, true);
BENCHMARK_CAPTURE(mul_number, no_graph, false);
BENCHMARK_CAPTURE(mul_number, graph, true);
BENCHMARK_CAPTURE(add_row, no_graph, false);
BENCHMARK_CAPTURE(exp, no_graph, false);
BENCHMARK_CAPTURE(exp, graph, true);
BENCHMARK_CAPTURE(softmax, no_graph, false);
BENCHMARK_CAPTURE(softmax, graph, true);
BENCHMARK_CAPTURE(matmul, no_graph, false);
BENCHMARK_CAPTURE(matmul, graph, true);
BENCHMARK_CAPTURE(linear, no_graph, false);
BENCHMARK_CAPTURE(linear, graph, true);
BENCHMARK_CAPTURE(transpose, no_graph, false);
BENCHMARK_CAPTURE(transpose, graph, true);
BENCHMARK_CAPTURE(view, no_graph, false);
BENCHMARK_CAPTURE(view, graph, true);
BENCHMARK_CAPTURE(select, no_graph, false);
BENCHMARK_CAPTURE(select, graph, true);
BENCHMARK(add_in_place);
BENCHMARK(chain);
BENCHMARK(chain_zero_grad);
BENCHMARK(attention_forward);
BENCHMARK(attention_both);

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::run(argc, argv);
}
