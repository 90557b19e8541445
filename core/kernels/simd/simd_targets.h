// The SIMD targets that kernels are compiled for: Highway's, without those that gain little. Must
// be included before any header of Highway.
#pragma once

#include <hwy/base.h>  // chooses no targets yet

// What SSE4 gives over SSE2 is at most 7 %, measured over ten kernels, but Highway 1.0 has no SSE2:
// there SSE4 is 3 to 5 times as fast as the code without vectors, and Atom processors have needed
// it until 2021. SSSE3 alone is what processors of 2006 had.
#if defined(HWY_MAJOR)  // Highway 1.1 and later
#define TEND_LEFT_OUT_TARGETS (HWY_SSSE3 | HWY_SSE4)
#else
#define TEND_LEFT_OUT_TARGETS HWY_SSSE3
#endif
#define HWY_DISABLED_TARGETS TEND_LEFT_OUT_TARGETS
