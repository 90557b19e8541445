// A program of its own for tests of what tend finds when it starts.
//   probe threads        prints num_threads()
//   probe core [N]       prints OpenBLAS's core type, after an N x N product if given

#include <cblas.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include <tend/core/gemm.h>
#include <tend/core/parallel.h>

int main(int count, char** arguments) {
  const std::string question = count > 1 ? arguments[1] : "";
  if (question == "threads") {
    std::cout << tend::num_threads() << '\n';
    return 0;
  }
  if (question != "core") return 2;
  // What OpenBLAS was loaded with is not the choice of tend's user.
  unsetenv("OPENBLAS_CORETYPE");
  if (count > 2) {
    const std::int64_t n = std::stoll(arguments[2]);
    const tend::Array ones = tend::Array::full({n, n}, 1, tend::float32);
    const tend::Array product = tend::Array::empty({n, n}, tend::float32);
    tend::kernels::matmul(product, ones, ones);
    if (product.data<float>()[n * n - 1] != static_cast<float>(n)) return 1;
  }
  std::cout << openblas_get_corename() << '\n';
  return 0;
}
