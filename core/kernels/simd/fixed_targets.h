// As simd_targets.h, but without the SIMD targets whose vector size is not known at compile time:
// processors with SVE then run the code for NEON. Must be included before any header of Highway.
#pragma once

#include <tend/core/kernels/simd/simd_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (TEND_LEFT_OUT_TARGETS | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
