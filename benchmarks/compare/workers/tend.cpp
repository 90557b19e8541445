// The rows in tend, as a user writes them.

#include "tend.h"

#include <string>

#include <tend/core/build_info.h>

#include "../inputs.h"

namespace compare {

using tend::Shape;
using tend::Tensor;

Tensor random_tensor(std::uint64_t seed, const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return Tensor(tend::Array::from<float>(random_values(seed, count), shape));
}

void add_tensor(Result& result, const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector<float>();
  result.add(values);
}

Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads, std::int64_t length,
                    std::int64_t width) {
  return random_tensor(seed, {batch, length, heads, width}).transpose(1, 2);
}

namespace {

Task gemm(const Work& w, std::uint64_t seed) {
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const Tensor a = w[0] != 0 ? random_tensor(seed, {k, m}).t() : random_tensor(seed, {m, k});
  const Tensor b =
      w[1] != 0 ? random_tensor(seed + 1, {n, k}).t() : random_tensor(seed + 1, {k, n});
  return forward_task([a, b] { return matmul(a, b); });
}

Tensor heads(const Work& w, std::uint64_t seed) {
  return random_heads(seed, w[0], w[1], w[2], w[3]);
}

Task scores(const Work& w, std::uint64_t seed) {
  return forward_task(
      [q = heads(w, seed), k = heads(w, seed + 1).transpose(-2, -1)] { return matmul(q, k); });
}

Task context(const Work& w, std::uint64_t seed) {
  return forward_task([p = random_tensor(seed, {w[0], w[1], w[2], w[2]}), v = heads(w, seed + 1)] {
    return matmul(p, v);
  });
}

Task elementwise(const Work& w, std::uint64_t seed) {
  const Tensor x = random_tensor(seed, {w[0], w[1]});
  const std::string& op = w.operation;
  if (op == "exp") return forward_task([x] { return exp(x); });
  if (op == "gelu") return forward_task([x] { return gelu(x); });
  if (op == "copy") return forward_task([x] { return x.clone(); });
  if (op == "transpose") return forward_task([x] { return x.t().contiguous(); });
  if (op == "sum") return forward_task([x] { return x.sum(1); });
  if (op == "softmax") return forward_task([x, dim = w[2]] { return softmax(x, dim); });
  if (op == "add") {
    return forward_task([x, y = random_tensor(seed + 1, {w[0], w[1]})] { return x + y; });
  }
  if (op == "layer_norm") {
    return forward_task(
        [x, n = w[1], weight = random_tensor(seed + 1, {w[1]}),
         bias = random_tensor(seed + 2, {w[1]})] { return layer_norm(x, {n}, weight, bias); });
  }
  return {};
}

}  // namespace

}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, [](const Setup& setup) {
    const std::uint64_t seed = setup.seed;
    Library library;
    library.about = [] {
      const tend::BuildInfo info = tend::build_info();
      const std::string blas = info.blas.substr(0, info.blas.find(' ', info.blas.find(' ') + 1));
      return "tend " + info.version + ", own kernels " + info.simd_target + ", " + blas + " " +
             info.blas_core + ", " + std::to_string(info.threads) + " threads, compiled by " +
             info.compiler;
    };
    library.peak_bytes = [before = std::int64_t{0}]() mutable {
      const std::int64_t peak = tend::peak_memory() - before;
      before = tend::live_memory();
      tend::reset_peak_memory();
      return peak;
    };
    library.prepare = [seed](const Work& w) -> Task {
      tend::empty_cache();
      if (w.operation == "gemm") return gemm(w, seed);
      if (w.operation == "scores") return scores(w, seed);
      if (w.operation == "context") return context(w, seed);
      if (w.operation == "mha") return attention_forward(w, seed);
      if (w.operation == "mha_grad") return attention_backward(w, seed);
      if (w.operation == "gpt") return training_step(w, seed);
      if (w.operation.starts_with("attend_")) return masked_attention(w, seed);
      if (w.operation.starts_with("generate_")) return generation(w, seed);
      return elementwise(w, seed);
    };
    return library;
  });
}
