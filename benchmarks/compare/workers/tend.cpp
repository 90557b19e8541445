// The rows in tend, written as a user would write them.

#include "tend.h"

#include <string>

#include <tend/core/build_info.h>

#include "../inputs.h"
#include "same_works.h"

namespace compare {
namespace {

std::string about(const Setup&) {
  const tend::BuildInfo info = tend::build_info();
  const std::string blas = info.blas.substr(0, info.blas.find(' ', info.blas.find(' ') + 1));
  return "tend " + info.version + ", own kernels " + info.simd_target + ", " + blas + " " +
         info.blas_core + ", " + std::to_string(info.threads) + " threads, compiled by " +
         info.compiler;
}

Task prepare_work(const Work& w, const Setup& setup) {
  tend::empty_cache();
  return prepare(w, setup);
}

std::int64_t peak_bytes() {
  static std::int64_t before = 0;
  const std::int64_t peak = tend::peak_memory() - before;
  before = tend::live_memory();
  tend::reset_peak_memory();
  return peak;
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  return serve(argc, argv, {about, prepare_work, peak_bytes});
}
