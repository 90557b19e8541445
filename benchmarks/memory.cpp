// Kernels that are bound by memory: B is the rate of bytes read and written, each array counted
// once.

#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/core/kernels/elementwise/compare.h>
#include <tend/core/kernels/elementwise/copy.h>
#include <tend/core/kernels/elementwise/masking.h>
#include <tend/core/kernels/indexing/indexing.h>
#include <tend/core/kernels/reduce/reduce.h>
#include <tend/core/kernels/reduce/statistics.h>
#include <tend/core/random/distributions.h>

#include "program.h"

using namespace tend;
using benchmarks::measure;
using benchmarks::varied;

namespace {

using Unary = void (*)(const Array& out, const Array& a);
using Binary = void (*)(const Array& out, const Array& a, const Array& b);
using Reduction = void (*)(const Array& out, const Array& a, const Shape& dims);

void unary(benchmark::State& state, Unary kernel, DType dtype) {
  const Shape shape{state.range(0), state.range(1)};
  const Array a = varied(shape, dtype), out = Array::empty(shape, dtype);
  measure(state, {&a, &out}, [&] { kernel(out, a); });
}

enum class Operand { same, row, column, number, transposed };

Array operand(const Shape& shape, Operand kind, DType dtype) {
  switch (kind) {
    case Operand::row: return varied({shape[1]}, dtype);
    case Operand::column: return varied({shape[0], 1}, dtype);
    case Operand::number: return Array::scalar(2.5, dtype);
    case Operand::transposed: return varied({shape[1], shape[0]}, dtype).transpose(0, 1);
    case Operand::same: break;
  }
  return varied(shape, dtype);
}

void binary(benchmark::State& state, Binary kernel, Operand kind, DType dtype) {
  const Shape shape{state.range(0), state.range(1)};
  const Array a = varied(shape, dtype), b = operand(shape, kind, dtype),
              out = Array::empty(shape, dtype);
  measure(state, {&a, &b, &out}, [&] { kernel(out, a, b); });
}

void compare(benchmark::State& state, Binary kernel) {
  const Shape shape{state.range(0), state.range(1)};
  const Array a = varied(shape), b = varied(shape), out = Array::empty(shape, boolean);
  measure(state, {&a, &b, &out}, [&] { kernel(out, a, b); });
}

void masked_fill(benchmark::State& state) {
  const Shape shape{state.range(0), state.range(1)};
  const Array a = varied(shape), mask = varied(shape).to(boolean),
              out = Array::empty(shape, float32);
  measure(state, {&a, &mask, &out}, [&] { kernels::masked_fill(out, a, mask, 0.5); });
}

void fill(benchmark::State& state) {
  const Array out = Array::empty({state.range(0), state.range(1)}, float32);
  measure(state, {&out}, [&] { kernels::fill(out, 1.5); });
}

void copy_transposed(benchmark::State& state, DType dtype) {
  const Array a = varied({state.range(0), state.range(1)}, dtype).transpose(0, 1);
  const Array out = Array::empty(a.shape(), dtype);
  measure(state, {&a, &out}, [&] { kernels::copy(out, a); });
}

// (batch, tokens, heads, dim) to (batch, heads, tokens, dim), as attention splits heads.
void copy_heads(benchmark::State& state) {
  const Array a = varied({state.range(0), state.range(1), state.range(2), state.range(3)});
  const Array split = a.transpose(1, 2), out = Array::empty(split.shape(), float32);
  measure(state, {&a, &out}, [&] { kernels::copy(out, split); });
}

void reduce(benchmark::State& state, Reduction kernel, const Shape& dims, DType dtype) {
  const Array a = varied({state.range(0), state.range(1), state.range(2)}, dtype);
  const Array out = Array::empty(reduced_shape(a.shape(), dims, false), dtype);
  measure(state, {&a, &out}, [&] { kernel(out, a, dims); });
}

void var(const Array& out, const Array& a, const Shape& dims) {
  kernels::var(out, a, dims);
}

void argmax(benchmark::State& state) {
  const Array a = varied({state.range(0), state.range(1)});
  const Array out = Array::empty({state.range(0)}, int64);
  measure(state, {&a, &out}, [&] { kernels::argmax(out, a, 1); });
}

// Tokens of a vocabulary, some of them often.
Array tokens(std::int64_t count, std::int64_t vocabulary) {
  const Array index = Array::empty({count}, int64);
  for (std::int64_t i = 0; i < count; ++i)
    index.data<std::int64_t>()[i] = i * i % 1009 * 7 % vocabulary;
  return index;
}

void embedding(benchmark::State& state) {
  const Array table = varied({state.range(1), state.range(2)});
  const Array index = tokens(state.range(0), state.range(1));
  const Array out = Array::empty({state.range(0), state.range(2)}, float32);
  measure(state, {&out, &out}, [&] { kernels::index_select(out, table, 0, index, "embedding"); });
}

void embedding_backward(benchmark::State& state) {
  const Array table = varied({state.range(1), state.range(2)});
  const Array index = tokens(state.range(0), state.range(1));
  const Array grad = varied({state.range(0), state.range(2)});
  measure(state, {&grad, &grad}, [&] { kernels::index_add(table, 0, index, grad); });
}

void uniform(benchmark::State& state) {
  const Array out = Array::empty({state.range(0), state.range(1)}, float32);
  Generator generator(1);
  measure(state, {&out}, [&] { kernels::uniform(out, 0.0, 1.0, generator); });
}

void keep_mask(benchmark::State& state) {
  const Array out = Array::empty({state.range(0), state.range(1)}, boolean);
  Generator generator(1);
  measure(state, {&out}, [&] { kernels::draw_keep_mask(out, 0.9, generator); });
}

void matrices(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->UseRealTime();
  benchmark->Args({6, 3})->Args({64, 128})->Args({1024, 384})->Args({4096, 1024});
}

void large(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "columns"})->UseRealTime()->Args({4096, 1024});
}

void cubes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "T", "C"})->UseRealTime();
  benchmark->Args({2, 6, 3})->Args({4, 256, 384})->Args({4, 1024, 1024});
}

void vocabularies(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"tokens", "vocabulary", "C"})->UseRealTime();
  benchmark->Args({768, 65, 128})->Args({4096, 50257, 768});
}

BENCHMARK_CAPTURE(unary, copy, kernels::copy, float32)->Apply(matrices);
BENCHMARK_CAPTURE(unary, neg, kernels::neg, float32)->Apply(matrices);
BENCHMARK(fill)->Apply(matrices);
BENCHMARK_CAPTURE(binary, add, kernels::add, Operand::same, float32)->Apply(matrices);
BENCHMARK_CAPTURE(binary, add_row, kernels::add, Operand::row, float32)->Apply(matrices);
BENCHMARK_CAPTURE(binary, add_column, kernels::add, Operand::column, float32)->Apply(matrices);
BENCHMARK_CAPTURE(binary, mul_number, kernels::mul, Operand::number, float32)->Apply(matrices);
BENCHMARK_CAPTURE(binary, add_transposed, kernels::add, Operand::transposed, float32)
    ->Apply(matrices);
BENCHMARK_CAPTURE(binary, div, kernels::div, Operand::same, float32)->Apply(matrices);
BENCHMARK_CAPTURE(binary, maximum, kernels::maximum, Operand::same, float32)->Apply(large);
BENCHMARK_CAPTURE(binary, add_float64, kernels::add, Operand::same, float64)->Apply(large);
BENCHMARK_CAPTURE(binary, add_int64, kernels::add, Operand::same, int64)->Apply(large);
BENCHMARK_CAPTURE(compare, lt, kernels::lt)->Apply(matrices);
BENCHMARK(masked_fill)->Apply(matrices);
BENCHMARK_CAPTURE(copy_transposed, float32, float32)->Apply(matrices);
BENCHMARK_CAPTURE(copy_transposed, float64, float64)->Apply(large);
BENCHMARK(copy_heads)
    ->ArgNames({"B", "T", "H", "D"})
    ->Args({8, 64, 4, 32})
    ->Args({4, 1024, 12, 64})
    ->UseRealTime();
BENCHMARK_CAPTURE(reduce, sum_last, kernels::sum, {2}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, sum_middle, kernels::sum, {1}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, sum_leading, kernels::sum, {0, 1}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, sum_all, kernels::sum, {0, 1, 2}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, amax_last, kernels::amax, {2}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, amax_leading, kernels::amax, {0, 1}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, var_last, var, {2}, float32)->Apply(cubes);
BENCHMARK_CAPTURE(reduce, sum_last_float64, kernels::sum, {2}, float64)->Apply(cubes);
BENCHMARK(argmax)->Apply(matrices);
BENCHMARK(embedding)->Apply(vocabularies);
BENCHMARK(embedding_backward)->Apply(vocabularies);
BENCHMARK(uniform)->Apply(large);
BENCHMARK(keep_mask)->Apply(large);

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::run(argc, argv);
}
