// Prints the share of the multiplications of a GPT's training step that OpenBLAS computes, for each
// SIMD target:
//
//   blas_share [VOCABULARY [TOKENS [WIDTH [LAYERS [HEADS [BATCH]]]]]]
//
// The default is the larger GPT step of `compare`. The cblas functions below replace
// OpenBLAS's functions: they count the multiplications and call the original.
#include <cblas.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <iostream>
#include <string>

#include <tend/core/kernels/matmul/gemm.h>
#include <tend/tend.h>

#include "examples/program.h"
#include "tests/simd_targets.h"

namespace {

std::atomic<std::uint64_t> multiplied = 0;

void count(blasint m, blasint n, blasint k) {
  multiplied +=
      static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(k);
}

// Returns OpenBLAS's own function `name`.
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
  constexpr std::uint64_t kMost = 1 << 20;
  std::int64_t vocabulary = 65, tokens = 256, width = 384, layers = 6, heads = 6, batch = 4;
  program::CommandLine line("blas_share",
                            "Prints OpenBLAS's share of the multiplications of a GPT's step");
  line.add_whole("vocabulary", vocabulary, "Size of the vocabulary (65)", 1, kMost);
  line.add_whole("tokens", tokens, "Tokens of a sequence (256)", 1, kMost);
  line.add_whole("width", width, "Width of the model (384)", 1, kMost);
  line.add_whole("layers", layers, "Number of layers (6)", 1, kMost);
  line.add_whole("heads", heads, "Heads of each layer (6)", 1, kMost);
  line.add_whole("batch", batch, "Sequences of a batch (4)", 1, kMost);
  return line.run(argc, argv, [&] {
    tend::manual_seed(1);
    const tend::attention::GPT model({.vocab_size = vocabulary,
                                      .context_length = tokens,
                                      .width = width,
                                      .num_heads = heads,
                                      .num_layers = layers});
    const tend::Tensor x = tend::randint(vocabulary, {batch, tokens});
    tend::test::for_each_simd_target([&](const std::string& target) {
      const std::uint64_t before = tend::kernels::flop_count;
      multiplied = 0;
      tend::cross_entropy(model(x).flatten(0, 1), x.flatten()).backward();
      // flop_count counts an addition with each multiplication.
      const double all = static_cast<double>((tend::kernels::flop_count - before) / 2);
      std::cout << target << ": OpenBLAS computes " << 100 * static_cast<double>(multiplied) / all
                << " % of " << all / 1e9 << " thousand million multiplications\n";
    });
    return 0;
  });
}
