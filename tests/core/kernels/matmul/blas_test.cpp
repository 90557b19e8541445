#include <tend/core/kernels/matmul/blas.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/core/build_info.h>
#include <tend/core/kernels/matmul/gemm.h>
#include <tend/core/kernels/matmul/matmul_path.h>
#include <tend/core/threads/parallel.h>

#include "tests/catch.h"

using namespace tend;

extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace {

// Sets an environment variable (removes it for nullptr), and restores it at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* text = std::getenv(name)) before_ = text;
    put(value);
  }
  ~Variable() { put(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void put(const char* value) const {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

void choose_core(const char* name) {
  const Variable core("OPENBLAS_CORETYPE", name);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

}  // namespace

TEST_CASE("A better core type for OpenBLAS is one that the processor offers") {
  using detail::better_blas_core;
  CHECK(better_blas_core("Haswell", true, true) == "SkylakeX");
  CHECK(better_blas_core("Zen", true, true) == "SkylakeX");
  CHECK(better_blas_core("Prescott", true, true) == "SkylakeX");
  CHECK(better_blas_core("Prescott", true, false) == "Haswell");
  CHECK(better_blas_core("Nehalem", true, false) == "Haswell");
}

TEST_CASE("A core type that suits the processor, or is unknown, is left alone") {
  using detail::better_blas_core;
  for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids", "neoversen1", "", "??"}) {
    CHECK(better_blas_core(core, true, true).empty());
  }
  CHECK(better_blas_core("Haswell", true, false).empty());
  CHECK(better_blas_core("Zen", true, false).empty());
  CHECK(better_blas_core("Prescott", false, false).empty());
}

TEST_CASE("OpenBLAS is brought to choose again, unless a variable says otherwise") {
  if (gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr) return;
  init_blas();
  const std::string best = blas_core();
  choose_core("Prescott");
  REQUIRE(blas_core() == "Prescott");
  {
    const Variable core("OPENBLAS_CORETYPE", "Prescott");
    detail::repair_blas();
    CHECK(blas_core() == "Prescott");
  }
  const Variable core("OPENBLAS_CORETYPE", "");  // which is no choice
  {
    const Variable off("TEND_BLAS_REPAIR", "0");
    detail::repair_blas();
    CHECK(blas_core() == "Prescott");
  }
  const Variable on("TEND_BLAS_REPAIR", nullptr);
  detail::repair_blas();
  const std::string repaired = blas_core();
  const char* const core_type = std::getenv("OPENBLAS_CORETYPE");
  REQUIRE(core_type != nullptr);
  CHECK(std::string(core_type).empty());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) CHECK((repaired == "SkylakeX" || repaired == "Haswell"));
#endif
  const Array ones = Array::full({300, 300}, 1, float64), product = Array::zeros({300}, float64);
  kernels::matmul(product, ones, ones.select(0, 0));
  CHECK(product.to_vector<double>() == std::vector<double>(300, 300.0));
  choose_core(best.c_str());
}

TEST_CASE("The build information names every part") {
  const BuildInfo info = build_info();
  CHECK(info.version.find('.') != std::string::npos);
  CHECK(info.blas.find("OpenBLAS") != std::string::npos);
  CHECK(info.blas_core == blas_core());
  CHECK_FALSE(info.simd_target.empty());
  CHECK(info.threads == num_threads());
  CHECK(info.matmul_path == matmul_path_name(matmul_path()));
  std::ostringstream text;
  text << info;
  const std::string lines = text.str();
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 10);
  CHECK(lines.find("blas core: " + info.blas_core + "\n") != std::string::npos);
}
