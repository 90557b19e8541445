// Elementwise functions and normalised rows: B is the rate of bytes read and written, each array
// counted once.
#include <tend/core/kernels/elementwise/math.h>
#include <tend/core/kernels/rows/cross_entropy.h>
#include <tend/core/kernels/rows/layer_norm.h>

#include "program.h"

using namespace tend;
using benchmarks::measure;
using benchmarks::varied;

namespace {

const Shape kShape{4096, 1024};

using Function = void (*)(const Array& out, const Array& a);
using Backward = void (*)(const Array& out, const Array& grad, const Array& a);

void function(benchmark::State& state, Function kernel, DType dtype) {
  const Array a = varied(kShape, dtype), out = varied(kShape, dtype);
  measure(state, {&a, &out}, [&] { kernel(out, a); });
}

void backward(benchmark::State& state, Backward kernel, DType dtype) {
  const Array a = varied(kShape, dtype), grad = varied(kShape, dtype), out = varied(kShape, dtype);
  measure(state, {&a, &grad, &out}, [&] { kernel(out, grad, a); });
}

void gelu(const Array& out, const Array& a) {
  kernels::gelu(out, a, false);
}
void gelu_tanh(const Array& out, const Array& a) {
  kernels::gelu(out, a, true);
}
void gelu_backward(const Array& out, const Array& grad, const Array& a) {
  kernels::gelu_backward(out, grad, a, false);
}

void layer_norm(benchmark::State& state, bool centred) {
  const Array a = varied(kShape), out = varied(kShape);
  const Array mean = Array::empty({kShape[0]}, float32), rstd = mean.clone();
  const Array weight = Array::full({kShape[1]}, 2, float32), bias = weight.clone();
  measure(state, {&a, &out}, [&] {
    if (centred) return kernels::layer_norm(out, mean, rstd, a, weight, bias, 1e-5);
    kernels::rms_norm(out, rstd, a, weight, 1e-5);
  });
}

void layer_norm_backward(benchmark::State& state) {
  const Array a = varied(kShape), grad = varied(kShape), out = varied(kShape);
  const Array mean = Array::zeros({kShape[0]}, float32),
              rstd = Array::full({kShape[0]}, 1, float32);
  const Array weight = Array::full({kShape[1]}, 2, float32);
  const Array grad_weight = weight.clone(), grad_bias = weight.clone();
  measure(state, {&a, &grad, &out}, [&] {
    kernels::layer_norm_backward(out, grad_weight, grad_bias, grad, a, mean, rstd, weight);
  });
}

void cross_entropy(benchmark::State& state) {
  const Array a = varied(kShape), out = varied(kShape);
  const Shape items{kShape[0]};
  const Array labels = Array::zeros(items, int64), ignored = Array::zeros(items, boolean);
  const Array losses = Array::full(items, 1, float32), largest = losses.clone(),
              sums = losses.clone();
  measure(state, {&a, &a, &out}, [&] {
    kernels::cross_entropy(losses, largest, sums, a, labels, ignored, 1, 0);
    kernels::cross_entropy_backward(out, losses, a, labels, largest, sums, 1, 0);
  });
}

BENCHMARK_CAPTURE(function, exp, kernels::exp, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, exp_float64, kernels::exp, float64)->UseRealTime();
BENCHMARK_CAPTURE(function, log, kernels::log, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, tanh, kernels::tanh, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, sigmoid, kernels::sigmoid, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, erf, kernels::erf, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, silu, kernels::silu, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, gelu, gelu, float32)->UseRealTime();
BENCHMARK_CAPTURE(function, gelu_float64, gelu, float64)->UseRealTime();
BENCHMARK_CAPTURE(function, gelu_tanh, gelu_tanh, float32)->UseRealTime();
BENCHMARK_CAPTURE(backward, tanh, kernels::tanh_backward, float32)->UseRealTime();
BENCHMARK_CAPTURE(backward, silu, kernels::silu_backward, float32)->UseRealTime();
BENCHMARK_CAPTURE(backward, gelu, gelu_backward, float32)->UseRealTime();
BENCHMARK_CAPTURE(layer_norm, forward, true)->UseRealTime();
BENCHMARK_CAPTURE(layer_norm, rms_norm, false)->UseRealTime();
BENCHMARK(layer_norm_backward)->UseRealTime();
BENCHMARK(cross_entropy)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::run(argc, argv);
}
