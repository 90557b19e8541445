// Prints what tend detects when a process starts. Tests run it as a separate process.
//   probe threads        prints num_threads()
//   probe core           prints OpenBLAS's core type
//   probe products       prints build_info().matmul_path, which computes the matrix products
//   probe blas N         prints OpenBLAS's kind of threading (serial, pthread, openmp), its number
//                        of threads after an N x N product, and how many threads the process gained
//   probe overlap N      multiplies N x N matrices on several threads at the same time, and prints
//                        "right" or "wrong"
//   probe memory         trains a GPT for a few steps, and prints by how many bytes the process
//                        grew, and the peak number of bytes in tensors
//   probe path           prints the path of matrix products
//   probe simd           prints the instruction set of the kernels
//   probe simd-targets   prints all instruction sets of this processor, the best one first

#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <tend/core/kernels/matmul/gemm.h>
#include <tend/tend.h>

#include "tests/simd_targets.h"

namespace {

// Multiplies an n x n matrix full of `value` by an n x n matrix of ones, `times` times. Returns
// true if all products are right.
bool multiply(std::int64_t n, int value = 1, int times = 1) {
  const tend::Array left = tend::Array::full({n, n}, value, tend::float32);
  const tend::Array right = tend::Array::full({n, n}, 1, tend::float32);
  const tend::Array product = tend::Array::empty({n, n}, tend::float32);
  const auto* first = product.data<float>();
  bool is_right = true;
  for (int time = 0; time < times; ++time) {
    tend::kernels::matmul(product, left, right);
    is_right = is_right && std::all_of(first, first + product.numel(),
                                       [&](float x) { return x == static_cast<float>(n * value); });
  }
  return is_right;
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

int print_blas(std::int64_t n) {
  tend::parallel_for(0, 1000, 1, [](std::int64_t, std::int64_t) {});  // starts tend's threads
  const std::ptrdiff_t before = threads_of_process();
  if (!multiply(n)) return 1;
  constexpr const char* kFlavours[] = {"serial", "pthread", "openmp"};
  std::cout << kFlavours[openblas_get_parallel()] << ' ' << openblas_get_num_threads() << ' '
            << threads_of_process() - before << '\n';
  return 0;
}

// Uses eight threads, so that several are inside OpenBLAS at the same time even on few processors.
// N must be more than 100: OpenBLAS's kernels for small matrices have no buffers that other threads
// could overwrite.
int print_overlap(std::int64_t n) {
  std::atomic<bool> right = true;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&right, n, value = thread + 1] {
      if (!multiply(n, value, 300)) right = false;
    });
  }
  threads.clear();
  std::cout << (right ? "right\n" : "wrong\n");
  return 0;
}

// The peak memory of the process in bytes.
std::int64_t process_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return -1;
}

int print_memory() {
  using namespace tend;
  const std::int64_t before = process_bytes();
  constexpr std::int64_t kTokens = 128, kVocabulary = 65;
  attention::GPT gpt({.vocab_size = kVocabulary,
                      .context_length = kTokens,
                      .width = 384,
                      .num_heads = 6,
                      .num_layers = 4});
  optim::AdamW optimizer(gpt.parameters());
  const Tensor tokens = randint(0, kVocabulary, {4, kTokens});
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    cross_entropy(gpt(tokens).flatten(0, 1), tokens.flatten()).backward();
    optimizer.step();
  }
  std::cout << process_bytes() - before << ' ' << peak_memory() << '\n';
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string question = count > 1 ? arguments[1] : "";
  const std::int64_t n = count > 2 ? std::stoll(arguments[2]) : 0;
  if (question == "core" || question == "products") {
    const tend::BuildInfo info = tend::build_info();
    std::cout << (question == "core" ? info.blas_core : info.matmul_path) << '\n';
    return 0;
  }
  if (question == "blas") return print_blas(n);
  if (question == "overlap") return print_overlap(n);
  if (question == "memory") return print_memory();
  if (question == "simd") {
    std::cout << tend::build_info().simd_target << '\n';
    return 0;
  }
  if (question == "simd-targets") {
    tend::test::for_each_simd_target(
        [](const std::string& target) { std::cout << target << '\n'; });
    return 0;
  }
  if (question == "path") {
    std::cout << tend::matmul_path_name(tend::matmul_path()) << '\n';
    return 0;
  }
  if (question != "threads") return 2;
  std::cout << tend::num_threads() << '\n';
  return 0;
}
