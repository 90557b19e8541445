#include <tend/core/build_info.h>

#include <algorithm>
#include <sstream>
#include <string>

#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/threads/parallel.h>

#include "tests/catch.h"

using namespace tend;

TEST_CASE("The build information has a value for every member") {
  const BuildInfo info = build_info();
  CHECK(info.version.find('.') != std::string::npos);
  CHECK(info.blas.find("OpenBLAS") != std::string::npos);
  CHECK_FALSE(info.blas_core.empty());
  CHECK_FALSE(info.simd_target.empty());
  CHECK(info.threads == num_threads());
  CHECK(info.matmul_path.starts_with(matmul_path_name(matmul_path())));
  std::ostringstream text;
  text << info;
  const std::string lines = text.str();
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 10);
  CHECK(lines.find("blas core: " + info.blas_core + "\n") != std::string::npos);
}
