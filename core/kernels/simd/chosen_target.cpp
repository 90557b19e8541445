// The functions that Highway's headers call to choose among the SIMD targets, in place of those of
// Highway's own library. That one measures the processor's clock when it is loaded, which takes
// half of every program's start, some 4 ms. In a shared libtend these functions are hidden, so that
// TEND_SIMD does not limit other users of Highway in the program.
#include <tend/core/kernels/simd/chosen_target.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tend/core/kernels/simd/simd_targets.h>

#include <hwy/targets.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace tend::kernels {
namespace {

std::atomic<std::int64_t> disabled_targets{0};
std::atomic<std::int64_t> tested_targets{0};  // instead of those that are found; 0 for none

#if HWY_ARCH_X86

bool has(std::uint32_t word, std::uint32_t bits) {
  return (word & bits) == bits;
}

std::uint32_t kept_registers() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Sources: Intel's and AMD's manuals, "CPUID".
std::int64_t found_targets() {
  Processor processor;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) processor.leaf1_c = c;
  if (has(processor.leaf1_c, bit_OSXSAVE)) processor.kept_registers = kept_registers();
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) processor.leaf7_b = b;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) processor.extended_c = c;
  return targets_of(processor);
}

#else

// On others the baseline is used.
std::int64_t found_targets() {
  return 0;
}

#endif

}  // namespace

#if HWY_ARCH_X86
// Each as Highway compiles it.
std::int64_t targets_of(const Processor& processor) {
  constexpr std::uint32_t kYmm = 0x6, kZmm = 0xE6;
  const auto& [leaf1_c, leaf7_b, extended_c, kept] = processor;
  const bool has_sse4 = has(leaf1_c, bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_AES | bit_PCLMUL);
  const bool has_avx2 = has_sse4 && has(leaf1_c, bit_AVX | bit_FMA | bit_F16C) &&
                        has(leaf7_b, bit_AVX2 | bit_BMI | bit_BMI2) && has(extended_c, bit_LZCNT) &&
                        has(kept, kYmm);
  const bool has_avx512 =
      has_avx2 && has(kept, kZmm) &&
      has(leaf7_b, bit_AVX512F | bit_AVX512CD | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL);
  return (has_sse4 ? HWY_SSE4 : 0) | (has_avx2 ? HWY_AVX2 : 0) | (has_avx512 ? HWY_AVX3 : 0);
}
#endif

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
