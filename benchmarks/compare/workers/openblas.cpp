// The OpenBLAS worker. It runs only the rows for matrix products.

#include <cblas.h>

#include <memory>
#include <string>
#include <vector>

#include "../inputs.h"
#include "../worker.h"

namespace compare {
namespace {

Task gemm(const Work& w, std::uint64_t seed) {
  struct Product {
    CBLAS_TRANSPOSE ta, tb;
    int m, n, k;
    std::vector<float> a, b, c;

    void run() {
      cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a.data(), ta == CblasTrans ? m : k,
                  b.data(), tb == CblasTrans ? k : n, 0.0F, c.data(), n);
    }
    std::span<const float> output() const { return c; }
  };
  const std::int64_t m = w[2], n = w[3], k = w[4];
  const auto transpose = [](std::int64_t flag) { return flag != 0 ? CblasTrans : CblasNoTrans; };
  const auto product = std::make_shared<Product>(
      Product{transpose(w[0]), transpose(w[1]), static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), random_values(seed, m * k), random_values(seed + 1, k * n),
              std::vector<float>(static_cast<std::size_t>(m * n))});
  return make_task(product);
}

Task prepare(const Work& w, const Setup& setup) {
  return w.operation == "gemm" ? gemm(w, setup.seed) : Task{};
}

std::string about(const Setup&) {
  return openblas_facts() + ", " + std::to_string(openblas_get_num_threads()) + " threads";
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  return compare::serve(argc, argv, {compare::about, compare::prepare});
}
