// Times causal attention on the fused and the composed path. In the benchmarks' names, path 1 is
// AttentionPath::fused and path 2 is composed. FLOP is the rate of floating-point operations, where
// only the visible half of the products counts. FLOP=250G/s means 250 GFLOP/s.
//
// The alibi benchmarks time one query after T - 1 cached tokens, with linear biases. They also show
// by how much the results of the two paths differ.
#include <cmath>

#include <tend/tend.h>

#include "program.h"

using namespace tend;
using attention::AttentionPath;
using attention::AttentionPathGuard;
using attention::MultiHeadAttention;
using attention::scaled_dot_product_attention;

namespace {

// A view of (batch, tokens, heads * dim) as (batch, heads, tokens, dim), as modules split heads.
Tensor split_heads(const benchmark::State& state) {
  const std::int64_t batch = state.range(0), heads = state.range(1), tokens = state.range(2),
                     dim = state.range(3);
  return randn({batch, tokens, heads * dim})
      .view({batch, tokens, heads, dim})
      .transpose(1, 2)
      .detach()
      .requires_grad_();
}

AttentionPath path_of(const benchmark::State& state) {
  return static_cast<AttentionPath>(state.range(4));
}

// `products` is 2 for a forward. A backward has 5 more, since it computes the scores again.
void count(benchmark::State& state, double products) {
  const auto n = [&](std::size_t i) { return static_cast<double>(state.range(i)); };
  state.counters["FLOP"] = benchmarks::rate(products * n(0) * n(1) * n(3) * n(2) * (n(2) + 1));
}

void core_forward(benchmark::State& state) {
  const Tensor query = split_heads(state), key = split_heads(state), value = split_heads(state);
  const NoGradGuard guard;
  for (auto _ : state) {
    scaled_dot_product_attention(query, key, value, {.is_causal = true, .path = path_of(state)});
  }
  count(state, 2);
}

void core_both(benchmark::State& state) {
  const Tensor query = split_heads(state), key = split_heads(state), value = split_heads(state);
  const Tensor cotangent = split_heads(state).detach();
  for (auto _ : state) {
    const Tensor out = scaled_dot_product_attention(query, key, value,
                                                    {.is_causal = true, .path = path_of(state)});
    autograd::grad({out}, {query, key, value}, {cotangent});
  }
  count(state, 7);
}

MultiHeadAttention make_module(const benchmark::State& state) {
  const std::int64_t width = state.range(1) * state.range(3);
  return {width, width, state.range(2), 0.0, state.range(1)};
}

Tensor module_input(const benchmark::State& state) {
  return randn({state.range(0), state.range(2), state.range(1) * state.range(3)});
}

void module_forward(benchmark::State& state) {
  const MultiHeadAttention module = make_module(state);
  const Tensor x = module_input(state);
  const AttentionPathGuard path(path_of(state));
  const NoGradGuard guard;
  for (auto _ : state) module(x);
}

void module_both(benchmark::State& state) {
  MultiHeadAttention module = make_module(state);
  const Tensor x = module_input(state);
  const AttentionPathGuard path(path_of(state));
  for (auto _ : state) {
    module.zero_grad();
    module(x).sum().backward();
  }
}

// Adds counters for the largest result, and for the largest difference of the paths: as a number,
// and in units in the last place of the largest result.
void count_apart(benchmark::State& state, const Tensor& fused, const Tensor& composed) {
  const double largest = abs(fused).max().item(), apart = abs(fused - composed).max().item();
  state.counters["largest"] = largest;
  state.counters["apart"] = apart;
  state.counters["ulp"] = apart / std::ldexp(1.0, std::ilogb(largest) - 23);
}

void alibi_query(benchmark::State& state) {
  manual_seed(1);
  const std::int64_t batch = state.range(0), heads = state.range(1), keys = state.range(2),
                     dim = state.range(3);
  const Tensor query = randn({batch, heads, 1, dim}), key = randn({batch, heads, keys, dim}),
               value = randn({batch, heads, keys, dim});
  const auto slope = attention::lookup(attention::scores::alibi_slopes(heads));
  attention::FlexOptions options{
      .score = [&](auto s, auto at) { return s - slope(at.head) * (keys - 1 - at.key); }};
  const NoGradGuard guard;
  const auto run = [&](AttentionPath path) {
    options.path = path;
    return attention::flex_attention(query, key, value, options);
  };
  for (auto _ : state) run(path_of(state));
  count_apart(state, run(AttentionPath::fused), run(AttentionPath::composed));
}

// Times the logits of one token, for a model of the size of compare's "10M".
void alibi_decode(benchmark::State& state) {
  manual_seed(1);
  const std::int64_t batch = state.range(0), heads = state.range(1), tokens = state.range(2);
  attention::GPT model({.vocab_size = 8192,
                        .context_length = tokens,
                        .width = heads * state.range(3),
                        .num_heads = heads,
                        .num_layers = 8,
                        .positions = attention::PositionKind::alibi});
  model.eval();
  const NoGradGuard guard;
  const Tensor text = randint(0, 8192, {batch, tokens});
  attention::KVCache cache({.capacity = tokens});
  model(text.narrow(1, 0, tokens - 1), {.cache = &cache});
  const auto run = [&](AttentionPath path) {
    const AttentionPathGuard chosen(path);
    cache.truncate(tokens - 1);
    return model(text.narrow(1, tokens - 1, 1), {.cache = &cache});
  };
  for (auto _ : state) run(path_of(state));
  count_apart(state, run(AttentionPath::fused), run(AttentionPath::composed));
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "H", "T", "D", "path"})->UseRealTime();
  for (const int path : {1, 2}) {
    benchmark->Args({8, 4, 64, 32, path})->Args({4, 6, 256, 64, path});
    benchmark->Args({2, 12, 1024, 64, path});
  }
}

// More lengths, short and long. The choice between the paths is based on these times.
void lengths(benchmark::internal::Benchmark* benchmark) {
  shapes(benchmark);
  for (const int path : {1, 2}) {
    for (const int tokens : {4, 8, 16, 32}) benchmark->Args({8, 4, tokens, 32, path});
    for (int tokens = 64; tokens <= 4096; tokens *= 2) benchmark->Args({1, 2, tokens, 64, path});
  }
}

void one_query(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "H", "T", "D", "path"})->UseRealTime();
  for (const int path : {1, 2}) benchmark->Args({1, 8, 1024, 64, path});
}

// compare's "10M" model has 8 heads of width 32.
void one_token(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "H", "T", "D", "path"})->UseRealTime();
  for (const int path : {1, 2}) benchmark->Args({1, 8, 1024, 32, path});
}

BENCHMARK(core_forward)->Apply(lengths);
BENCHMARK(core_both)->Apply(lengths);
BENCHMARK(module_forward)->Apply(shapes);
BENCHMARK(module_both)->Apply(shapes);
BENCHMARK(alibi_query)->Apply(one_query);
BENCHMARK(alibi_decode)->Apply(one_token);

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::run(argc, argv);
}
