// As simd_targets.h, and without the SIMD targets whose vectors have no size at compile time: their
// processors then run the code for NEON. To be included before anything of Highway.
#pragma once

#include <tend/core/kernels/simd/simd_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (TEND_LEFT_OUT_TARGETS | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
