// The rows in tend, as a user writes them.

#include "tend.h"

#include <string>

#include <tend/core/build_info.h>

#include "../inputs.h"
#include "same_works.h"

namespace compare {

Tensor random_tensor(std::uint64_t seed, const tend::Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return Tensor(tend::Array::from<float>(random_values(seed, count), shape));
}

void add_tensor(Result& result, const Tensor& tensor) {
  const std::vector<float> values = tensor.to_vector<float>();
  result.add(values);
}

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
      return prepare(w, seed);
    };
    return library;
  });
}
