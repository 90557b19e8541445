// The targets that kernels may use are those that the processor has.
#include <tend/core/kernels/simd/chosen_target.h>

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
#include <cpuid.h>

TEST_CASE("a SIMD target is there with all of its instructions and the registers that they use") {
  using tend::kernels::Processor;
  using tend::kernels::targets_of;
  constexpr std::int64_t kSse4 = HWY_SSE4, kAvx2 = HWY_SSE4 | HWY_AVX2, kAll = kAvx2 | HWY_AVX3;
  const Processor full = {
      bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_AES | bit_PCLMUL | bit_AVX | bit_FMA | bit_F16C,
      bit_AVX2 | bit_BMI | bit_BMI2 | bit_AVX512F | bit_AVX512CD | bit_AVX512DQ | bit_AVX512BW |
          bit_AVX512VL,
      bit_LZCNT, 0xE7};
  CHECK(targets_of(full) == kAll);
  CHECK(targets_of({}) == 0);
  const auto without = [&](std::uint32_t Processor::*word, std::int64_t bits) {
    Processor less = full;
    less.*word &= ~static_cast<std::uint32_t>(bits);
    return targets_of(less);
  };
  for (const std::int64_t bit : {bit_SSSE3, bit_SSE4_1, bit_SSE4_2, bit_AES, bit_PCLMUL})
    CHECK(without(&Processor::leaf1_c, bit) == 0);
  for (const std::int64_t bit : {bit_AVX, bit_FMA, bit_F16C})
    CHECK(without(&Processor::leaf1_c, bit) == kSse4);
  for (const std::int64_t bit : {bit_AVX2, bit_BMI, bit_BMI2})
    CHECK(without(&Processor::leaf7_b, bit) == kSse4);
  CHECK(without(&Processor::extended_c, bit_LZCNT) == kSse4);
  for (const std::int64_t bit : {bit_AVX512F, bit_AVX512CD, bit_AVX512DQ, bit_AVX512BW})
    CHECK(without(&Processor::leaf7_b, bit) == kAvx2);
  CHECK(without(&Processor::leaf7_b, bit_AVX512VL) == kAvx2);
  // A system that keeps no upper halves of YMM, or no ZMM and mask registers (bits 2, and 5 to 7).
  for (const std::int64_t bit : {1U << 1, 1U << 2})
    CHECK(without(&Processor::kept_registers, bit) == kSse4);
  for (const std::int64_t bit : {1U << 5, 1U << 6, 1U << 7})
    CHECK(without(&Processor::kept_registers, bit) == kAvx2);
}

// Not under Valgrind, which has a CPUID of its own, nor where the kernel hides instructions that
// the processor has (clearcpuid=).
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
