// The SIMD targets that kernels are compiled for: Highway's targets, except those that gain little.
// This file must be included before any header of Highway.
#pragma once

#include <hwy/base.h>  // chooses no targets yet

// SSE4 is at most 7 % faster than SSE2, measured over ten kernels, so it is disabled if Highway has
// SSE2. Highway 1.0 has no SSE2. With this version, SSE4 is 3 to 5 times as fast as code without
// vectors, and Atom processors needed SSE4 until 2021. SSSE3 without SSE4 occurs only in processors
// of 2006.
//
// Highway 1.1 and later have targets that extend AVX-512 and NEON by bfloat16, AES or Zen 4's
// compress instructions. No kernel uses these, so each target would be one more copy of the same
// code.
//
// SVE and RISC-V have vectors whose length is not known at compile time. Such vectors cannot be
// members of classes or elements of arrays, which kernels need. Processors with SVE run the code
// for NEON.
#define TEND_SCALABLE_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#if defined(HWY_MAJOR)  // Highway 1.1 and later
#define HWY_DISABLED_TARGETS                                                                   \
  (TEND_SCALABLE_TARGETS | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | \
   HWY_NEON_BF16 | HWY_NEON)
#else
#define HWY_DISABLED_TARGETS (TEND_SCALABLE_TARGETS | HWY_SSSE3)
#endif
