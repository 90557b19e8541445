// Which share of the multiplications of a GPT's training step OpenBLAS computes, on each SIMD
// target:
//
//   blas_share [VOCABULARY [TOKENS [WIDTH [LAYERS [HEADS [BATCH]]]]]]
//
// By default those of the larger step that `compare` times. The functions below stand before
// OpenBLAS's own, count, and pass the call on.
#include <cblas.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>

#include <tend/core/kernels/matmul/gemm.h>
#include <tend/tend.h>

#include "examples/program.h"
#include "tests/simd_targets.h"

#include <nlohmann/json.hpp>

namespace {

std::atomic<std::uint64_t> multiplied = 0;

void count(blasint m, blasint n, blasint k) {
  multiplied +=
      static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(k);
}

// The training step of a GPT, by default the larger of the two that `compare` times.
struct GPTStep {
  std::int64_t vocabulary = 65, tokens = 256, width = 384, layers = 6, heads = 6, batch = 4;
  std::uint64_t seed = 1;
  std::string json;

  void add_to(program::CommandLine& line) {
    constexpr std::uint64_t kMost = 1 << 20;
    line.add_whole("vocabulary", vocabulary, "Tokens that there are (65)", 1, kMost);
    line.add_whole("tokens", tokens, "Of a sequence (256)", 1, kMost);
    line.add_whole("width", width, "(384)", 1, kMost);
    line.add_whole("layers", layers, "(6)", 1, kMost);
    line.add_whole("heads", heads, "Of each layer (6)", 1, kMost);
    line.add_whole("batch", batch, "Sequences (4)", 1, kMost);
    line.add_whole("--seed", seed, "Of weights and tokens (1)");
    line.add_json(json);
  }
  // Throws std::invalid_argument where the heads do not share the width.
  tend::attention::GPT model() const {
    if (width % heads != 0) throw std::invalid_argument("width must be a multiple of heads");
    return tend::attention::GPT({.vocab_size = vocabulary,
                                 .context_length = tokens,
                                 .width = width,
                                 .num_heads = heads,
                                 .num_layers = layers});
  }
  tend::Tensor inputs() const { return tend::randint(vocabulary, {batch, tokens}); }
};

// OpenBLAS's function of that name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b,
                            blasint m, blasint n, blasint k, float alpha, const float* a,
                            blasint lda, const float* b, blasint ldb, float beta, float* c,
                            blasint ldc) {
  count(m, n, k);
  next<decltype(cblas_sgemm)>("cblas_sgemm")(order, trans_a, trans_b, m, n, k, alpha, a, lda, b,
                                             ldb, beta, c, ldc);
}

extern "C" void cblas_sgemv(CBLAS_ORDER order, CBLAS_TRANSPOSE trans, blasint m, blasint n,
                            float alpha, const float* a, blasint lda, const float* x, blasint incx,
                            float beta, float* y, blasint incy) {
  count(m, n, 1);
  next<decltype(cblas_sgemv)>("cblas_sgemv")(order, trans, m, n, alpha, a, lda, x, incx, beta, y,
                                             incy);
}

int main(int argc, char** argv) {
  GPTStep gpt;
  program::CommandLine line("blas_share",
                            "Counts which share of a GPT's training step OpenBLAS computes");
  gpt.add_to(line);
  return line.run(argc, argv, [&] {
    program::check_can_write(gpt.json);
    tend::manual_seed(gpt.seed);
    const tend::attention::GPT model = gpt.model();
    const tend::Tensor x = gpt.inputs();
    nlohmann::ordered_json results;
    tend::test::for_each_simd_target([&](const std::string& target) {
      const std::uint64_t before = tend::kernels::flop_count;
      multiplied = 0;
      tend::cross_entropy(model(x).flatten(0, 1), x.flatten()).backward();
      // A multiplication comes with an addition.
      const double all = static_cast<double>((tend::kernels::flop_count - before) / 2);
      const double share = static_cast<double>(multiplied) / all;
      std::cout << target << ": OpenBLAS computes " << 100 * share << " % of " << all / 1e9
                << " thousand million multiplications\n";
      results[target] = {{"share", share}, {"multiplications", all}};
    });
    program::write_results(gpt.json, [&] { return results.dump(1); });
    return 0;
  });
}
