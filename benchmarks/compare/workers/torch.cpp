// The rows in libtorch: ATen's functions, without the cost of Python.

#include "torch.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "../inputs.h"

namespace compare {

at::Tensor random_tensor(std::uint64_t seed, at::IntArrayRef shape) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  const std::vector<float> values = random_values(seed, tensor.numel());
  std::memcpy(tensor.data_ptr<float>(), values.data(), values.size() * sizeof(float));
  return tensor;
}

void add_tensor(Result& result, const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().contiguous();
  result.add({dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())});
}

at::Tensor random_heads(std::uint64_t seed, std::int64_t batch, std::int64_t heads,
                        std::int64_t length, std::int64_t width) {
  return random_tensor(seed, {batch, length, heads, width}).transpose(1, 2);
}

Task chosen_way(const std::string& name, const std::vector<Way>& ways) {
  Task best;
  double least = std::numeric_limits<double>::infinity();
  for (const Way& way : ways) {
    if (!name.empty() && name != way.name) continue;
    Task task = way.prepare();
    task.way = way.name;
    if (way.name == name) return task;
    double seconds = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {  // the first also makes pages and wakes threads
      const auto start = std::chrono::steady_clock::now();
      task.run(1);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      seconds = std::min(seconds, spent.count());
      if (seconds > 3 * least) break;
    }
    if (seconds >= least) continue;
    least = seconds;
    best = std::move(task);
  }
  if (!best.run) throw std::runtime_error("no way " + name);
  return best;
}

namespace {

Task gemm(const Work& w, std::uint64_t seed) {
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const at::Tensor a = w[0] != 0 ? random_tensor(seed, {k, m}).t() : random_tensor(seed, {m, k});
  const at::Tensor b =
      w[1] != 0 ? random_tensor(seed + 1, {n, k}).t() : random_tensor(seed + 1, {k, n});
  return forward_task([a, b] { return at::matmul(a, b); });
}

at::Tensor heads(const Work& w, std::uint64_t seed) {
  return random_heads(seed, w[0], w[1], w[2], w[3]);
}

Task scores(const Work& w, std::uint64_t seed) {
  return forward_task(
      [q = heads(w, seed), k = heads(w, seed + 1).transpose(-2, -1)] { return at::matmul(q, k); });
}

Task context(const Work& w, std::uint64_t seed) {
  return forward_task([p = random_tensor(seed, {w[0], w[1], w[2], w[2]}), v = heads(w, seed + 1)] {
    return at::matmul(p, v);
  });
}

Task elementwise(const Work& w, std::uint64_t seed) {
  const at::Tensor x = random_tensor(seed, {w[0], w[1]});
  const std::string& op = w.operation;
  if (op == "exp") return forward_task([x] { return at::exp(x); });
  if (op == "gelu") return forward_task([x] { return at::gelu(x); });
  if (op == "copy") return forward_task([x] { return x.clone(); });
  if (op == "transpose") return forward_task([x] { return x.t().contiguous(); });
  if (op == "sum") return forward_task([x] { return at::sum(x, 1); });
  if (op == "softmax") return forward_task([x, dim = w[2]] { return at::softmax(x, dim); });
  if (op == "add") {
    return forward_task([x, y = random_tensor(seed + 1, {w[0], w[1]})] { return at::add(x, y); });
  }
  if (op == "layer_norm") {
    return forward_task(
        [x, n = w[1], weight = random_tensor(seed + 1, {w[1]}),
         bias = random_tensor(seed + 2, {w[1]})] { return at::layer_norm(x, {n}, weight, bias); });
  }
  return {};
}

/// The instruction set of libtorch's own kernels, as its configuration tells.
std::string cpu_capability() {
  const std::string key = "CPU capability usage: ";
  const std::string config = at::show_config();
  const std::size_t place = config.find(key);
  if (place == std::string::npos) return "unknown";
  const std::size_t begin = place + key.size();
  return config.substr(begin, config.find('\n', begin) - begin);
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, [](const Setup& setup) {
    Library library;
    library.about = [] {
      return "libtorch " TORCH_VERSION ", own kernels " + cpu_capability() + ", " +
             openblas_facts() + ", " + std::to_string(at::get_num_threads()) + " threads";
    };
    library.prepare = [seed = setup.seed](const Work& w) -> Task {
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
