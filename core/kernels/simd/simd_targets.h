// The SIMD targets that kernels are compiled for: Highway's, without those that gain little. Must
// be included before any header of Highway.
#pragma once

#include <hwy/base.h>  // chooses no targets yet

// What SSE4 gives over SSE2 is at most 7 %, measured over ten kernels, but Highway 1.0 has no SSE2:
// there SSE4 is 3 to 5 times as fast as the code without vectors, and Atom processors have needed
// it until 2021. SSSE3 alone is what processors of 2006 had.
//
// What Highway 1.1 and later add to AVX-512 and NEON (bfloat16, AES, Zen 4's way to compress) no
// kernel uses: each would be one more copy of the same code.
//
// Where the length of a vector is not known at compile time (SVE, RISC-V), vectors can be neither
// members nor elements of arrays, as kernels need them. Processors with SVE run the code for NEON.
#define TEND_SCALABLE_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#if defined(HWY_MAJOR)  // Highway 1.1 and later
#define HWY_DISABLED_TARGETS                                                                   \
  (TEND_SCALABLE_TARGETS | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | \
   HWY_NEON_BF16 | HWY_NEON)
#else
#define HWY_DISABLED_TARGETS (TEND_SCALABLE_TARGETS | HWY_SSSE3)
#endif
