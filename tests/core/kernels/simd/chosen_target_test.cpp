// The targets that kernels may use are those that the processor has.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>

#include <tend/core/kernels/simd/simd_targets.h>

#include <hwy/targets.h>

#include "tests/catch.h"

#if HWY_ARCH_X86

TEST_CASE("the SIMD targets are those whose instructions the system lists") {
  if (std::getenv("TEND_SIMD") != nullptr) return;  // fewer of them, on purpose
  std::ifstream processors("/proc/cpuinfo");
  std::string line;
  while (std::getline(processors, line) && !line.starts_with("flags")) {
  }
  std::istringstream words(line);
  std::set<std::string> flags;
  for (std::string word; words >> word;) flags.insert(word);
  REQUIRE(flags.contains("sse2"));  // as every processor with 64 bits has
  const auto has = [&](std::initializer_list<const char*> names) {
    bool all = true;
    for (const char* name : names) all = all && flags.contains(name);
    return all;
  };
  const bool has_sse4 = has({"ssse3", "sse4_1", "sse4_2", "aes", "pclmulqdq"});
  const bool has_avx2 = has_sse4 && has({"avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "abm"});
  const bool has_avx512 =
      has_avx2 && has({"avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl"});
  const std::int64_t targets = hwy::SupportedTargets();
  CHECK(((targets & HWY_SSE4) != 0) == has_sse4);
  CHECK(((targets & HWY_AVX2) != 0) == has_avx2);
  CHECK(((targets & HWY_AVX3) != 0) == has_avx512);
}

#endif
