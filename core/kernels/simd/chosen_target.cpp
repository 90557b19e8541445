// The part of Highway that chooses among the SIMD targets, with the names that its headers call. It
// stands here because Highway's own library measures the processor's clock when it is loaded, which
// takes 5 ms of every program's start; OpenBLAS, the C++ library and all else take 4 together. It
// also keeps TEND_SIMD from limiting other libraries of the program that use Highway.
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tend/core/kernels/simd/simd_targets.h>

#include <hwy/highway.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace tend::kernels {
namespace {

std::atomic<std::int64_t> disabled_targets{0};
std::atomic<std::int64_t> tested_targets{0};  // instead of those that are found; 0 for none

#if HWY_ARCH_X86

bool has(std::uint64_t word, std::uint64_t bits) {
  return (word & bits) == bits;
}

// Which registers the system keeps when threads change (XCR0).
std::uint64_t kept_registers() {
  std::uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// The targets whose instructions are there, each as Highway compiles it. Sources: Intel's and AMD's
// manuals, "CPUID".
std::int64_t found_targets() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const bool has_sse4 = has(c, bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_AES | bit_PCLMUL);
  const bool has_fma = has(c, bit_AVX | bit_FMA | bit_F16C);
  const std::uint64_t kept = has(c, bit_OSXSAVE) ? kept_registers() : 0;
  constexpr std::uint64_t kYmm = 0x6, kZmm = 0xE6;
  const bool has_lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && has(c, bit_LZCNT);
  const bool has_leaf_7 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0;
  const bool has_avx2 = has_sse4 && has_fma && has_lzcnt && has_leaf_7 && has(kept, kYmm) &&
                        has(b, bit_AVX2 | bit_BMI | bit_BMI2);
  const bool has_avx512 =
      has_avx2 && has(kept, kZmm) &&
      has(b, bit_AVX512F | bit_AVX512CD | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL);
  return (has_sse4 ? HWY_SSE4 : 0) | (has_avx2 ? HWY_AVX2 : 0) | (has_avx512 ? HWY_AVX3 : 0);
}

#else

// On others, kernels are compiled for one target.
std::int64_t found_targets() {
  return 0;
}

#endif

}  // namespace
}  // namespace tend::kernels

namespace hwy {

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

std::int64_t SupportedTargets() {
  const std::int64_t tested = tend::kernels::tested_targets;
  const std::int64_t found =
      tested != 0 ? tested : tend::kernels::found_targets() | HWY_STATIC_TARGET;
  const std::int64_t enabled = found & ~tend::kernels::disabled_targets;
  return enabled == 0 ? HWY_STATIC_TARGET : enabled;
}

// The next dispatch chooses anew.
void DisableTargets(std::int64_t targets) {
  tend::kernels::disabled_targets = targets;
  GetChosenTarget().DeInit();
}

void SetSupportedTargetsForTest(std::int64_t targets) {
  tend::kernels::tested_targets = targets;
  GetChosenTarget().DeInit();
}

// For the assertions in Highway's headers, which builds for debugging have.
void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
